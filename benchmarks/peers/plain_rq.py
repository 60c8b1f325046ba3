"""RQ: a pool of workers that do not fork for each job, the fastest that it has; neither results nor jobs are kept.

With its default worker, which forks for each job, every job would open the database anew.
"""

import uuid

from redis import Redis
from rq import Queue

from benchmarks.peers.work import Work
from pipeline.settings import load_settings

_settings = load_settings()
_work = Work.of(_settings)
_queue = Queue("text", connection=Redis.from_url(_settings.redis_url))


def execute_text(task_id: str, mac: str, text: str, wait_ms: int) -> None:
    _work.do(task_id, mac, text, wait_ms)


def send(mac: str, text: str, wait_ms: int) -> str:
    """Put a text in line; return its task id."""
    task_id = str(uuid.uuid4())
    job = _queue.enqueue_call(execute_text, (task_id, mac, text, wait_ms), result_ttl=0, job_id=task_id)
    return str(job.id)
