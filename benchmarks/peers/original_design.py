"""The replaced design's Celery application: web pushes into the lines, `original_dispatch` pops and sends, this works.

Acknowledged late, as the replaced service did; its registry entry, idle slots included, is written every 15 s.
"""

import os
import socket
import threading
import uuid

from celery import Celery
from celery.signals import worker_ready
from celery.worker import state
from redis import Redis

from benchmarks.peers.original_lines import Lines
from benchmarks.peers.work import Work
from pipeline.clock import SystemClock
from pipeline.settings import load_settings

#: Keys of workers, which the dispatch loop looks for in the whole of Redis.
WORKERS = "sensitive:worker:"
_HEARTBEAT_S, _TTL_S = 15, 60

_settings = load_settings()
_work = Work.of(_settings)
_redis = Redis.from_url(_settings.redis_url)
lines = Lines(_redis, _settings, SystemClock())
app = Celery("original", broker=_settings.redis_url, set_as_current=False)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    task_default_queue="text",
    broker_connection_retry_on_startup=True,
)


@app.task(name="execute_text")
def execute_text(task_id: str, mac: str, text: str, wait_ms: int) -> None:
    _work.do(task_id, mac, text, wait_ms)


def send(mac: str, text: str, wait_ms: int) -> str:
    """Put a text in its device's line; return its task id.

    Raises: QueueFull.
    """
    task_id = str(uuid.uuid4())
    lines.enqueue(mac, {"task_id": task_id, "text": text, "wait_ms": wait_ms})
    return task_id


@worker_ready.connect
def _announce(sender: object, **_: object) -> None:
    slots = sender.pool.limit  # type: ignore[attr-defined]
    threading.Thread(target=_keep_announcing, args=(slots,), daemon=True).start()


def _keep_announcing(slots: int) -> None:
    key = f"{WORKERS}{socket.gethostname()}:{os.getpid()}"
    while True:
        _redis.hset(key, mapping={"concurrency": slots, "active_tasks": len(state.active_requests)})
        _redis.expire(key, _TTL_S)
        threading.Event().wait(_HEARTBEAT_S)
