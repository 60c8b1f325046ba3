"""The replaced design's dispatch loop: every 0.5 s it estimates free slots and sends so many batches to Celery.

Slots are what the workers' last heartbeats said was idle, at least one; what waits in Celery is not counted. While the
host's CPU or memory is over its watermark, published every 15 s and believed for 20 s, whatever is popped is put back
and its device backed off for 30 s and longer. A watermark of 100 is none.
"""

import json
import threading

import psutil
from redis import Redis

from benchmarks.peers.original_design import WORKERS, app, lines
from pipeline.settings import Settings, load_settings

_TICK_S = 0.5
_WATERMARK, _WATERMARK_TTL_S = "sensitive:watermark", 20


def main() -> None:
    """Dispatch until the process is ended."""
    settings = load_settings()
    redis = Redis.from_url(settings.redis_url)
    threading.Thread(target=_publish, args=(redis, settings), daemon=True).start()
    pause = threading.Event()
    while not pause.wait(_TICK_S):
        _tick(redis, settings)


def _tick(redis: Redis, settings: Settings) -> None:
    for _ in range(max(1, _idle_slots(redis))):
        mac = lines.claim()
        if mac is None:
            return
        _send_batch(redis, settings, mac)
        lines.finish(mac)


def _idle_slots(redis: Redis) -> int:
    idle = 0
    for key in redis.scan_iter(WORKERS + "*"):
        worker = redis.hgetall(key)
        idle += max(0, int(worker.get(b"concurrency", 0)) - int(worker.get(b"active_tasks", 0)))
    return idle


def _send_batch(redis: Redis, settings: Settings, mac: str) -> None:
    for _ in range(lines.batch_size()):
        task = lines.pop(mac)
        if task is None:
            return
        if _is_over(redis, settings):
            lines.defer(mac, task)
            return
        args = (task["task_id"], mac, task["text"], task["wait_ms"])
        app.send_task("execute_text", args, task_id=task["task_id"])


def _is_over(redis: Redis, settings: Settings) -> bool:
    snapshot = json.loads(redis.get(_WATERMARK) or b'{"cpu": 0, "memory": 0}')
    marks = {"cpu": settings.worker_cpu_high_watermark, "memory": settings.worker_mem_high_watermark}
    return any(mark < 100 and snapshot[name] >= mark for name, mark in marks.items())


def _publish(redis: Redis, settings: Settings) -> None:
    psutil.cpu_percent()  # the first reading has nothing to compare with
    while not threading.Event().wait(settings.watermark_publish_interval):
        snapshot = {"cpu": psutil.cpu_percent(), "memory": psutil.virtual_memory().percent}
        redis.set(_WATERMARK, json.dumps(snapshot), ex=_WATERMARK_TTL_S)


if __name__ == "__main__":
    main()
