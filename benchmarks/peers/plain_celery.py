"""Plain Celery 5 on Redis, set up for short tasks that must not be lost, as its documents advise.

Acknowledged after the work (`acks_late`, `reject_on_worker_lost`), no results kept in Redis since they are stored, no
events; gossip, mingle and heartbeat off at the command line. Processes of its prefork pool, the default.
"""

import uuid

from celery import Celery

from benchmarks.peers.work import Work
from pipeline.settings import load_settings

_settings = load_settings()
_work = Work.of(_settings)
app = Celery("plain", broker=_settings.redis_url, set_as_current=False)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    task_default_queue="text",
    worker_disable_rate_limits=True,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_pool_limit=_settings.web_threads,
)


@app.task(name="execute_text")
def execute_text(task_id: str, mac: str, text: str, wait_ms: int) -> None:
    _work.do(task_id, mac, text, wait_ms)


def send(mac: str, text: str, wait_ms: int) -> str:
    """Put a text in line; return its task id."""
    task_id = str(uuid.uuid4())
    execute_text.apply_async((task_id, mac, text, wait_ms), task_id=task_id)
    return task_id
