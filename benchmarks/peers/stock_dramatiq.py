"""Stock dramatiq: its Redis broker and its default middleware, one queue; `dramatiq benchmarks.peers.stock_dramatiq`.

Dramatiq imports this after its fork. Messages are taken by a script that also sends heartbeats, `2 x threads` at a
time, and acknowledged after the work; those of a worker that died are put back. Three retries, as an actor has to say.
"""

import uuid

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks.peers.work import Work
from pipeline.settings import load_settings

_settings = load_settings()
_work = Work.of(_settings)
broker = RedisBroker(url=_settings.redis_url)
dramatiq.set_broker(broker)


@dramatiq.actor(broker=broker, queue_name="text", max_retries=3)
def execute_text(task_id: str, mac: str, text: str, wait_ms: int) -> None:
    _work.do(task_id, mac, text, wait_ms)


def send(mac: str, text: str, wait_ms: int) -> str:
    """Put a text in line; return its task id."""
    task_id = str(uuid.uuid4())
    execute_text.send(task_id, mac, text, wait_ms)
    return task_id
