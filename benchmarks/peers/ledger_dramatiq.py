"""Stock dramatiq with fairlane's ledger: the same rows at the same moments, only the way to a worker is another.

Accepted, started and finished in the ledger as fairlane does it, steps and all. So what tells this from fairlane is the
queue: no fair shares, no limits, no leases with tokens, one line for all.
"""

import uuid

import dramatiq
from dramatiq.brokers.redis import RedisBroker

import models.base
from benchmarks.peers.work import Work, screened, wait
from models.ledger import Finished, Ledger, NewTask, StepRecord
from models.sites import LOCAL_SITE
from pipeline.clock import SystemClock
from pipeline.settings import load_settings
from pipeline.submission import TextSubmission, content_hash

_settings, _clock = load_settings(), SystemClock()
_work = Work.of(_settings)
_database = models.base.bound()
_ledger = Ledger(_database, _clock)
broker = RedisBroker(url=_settings.redis_url)
dramatiq.set_broker(broker)


@dramatiq.actor(broker=broker, queue_name="text", max_retries=3)
def execute_text(task_id: str, wait_ms: int) -> None:
    # As in fairlane's workers: one connection for all that is done for a task.
    with models.base.connection(_database):
        task = _ledger.start(task_id, 1, 1)
        began_ms = _clock.now_ms()
        detection = screened(_work.detector, str(task.payload["text"]))
        ended_ms = _clock.now_ms()
        steps = [StepRecord("screen", "done", began_ms, ended_ms), StepRecord("store", "done", ended_ms, ended_ms)]
        _ledger.finish(task_id, 1, Finished(None, detection, steps, ended_ms - began_ms))
    wait(wait_ms)


def send(mac: str, text: str, wait_ms: int) -> str:
    """Accept a text in the ledger and put it in line; return its task id."""
    task_id = str(uuid.uuid4())
    _ledger.accept(
        NewTask(
            task_id=task_id,
            lane="text",
            mac=mac,
            site=LOCAL_SITE,
            content_hash=content_hash(TextSubmission(mac, text), mac),
            payload={"text": text, "words": []},
            size_bytes=len(text.encode()),
            detection_id=None,
            created_ms=_clock.now_ms(),
        )
    )
    execute_text.send(task_id, wait_ms)
    return task_id
