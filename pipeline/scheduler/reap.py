"""Duty: tasks whose worker was lost go back to the head of their line, or to the dead letters."""

import logging

from models.ledger import Ledger
from pipeline import metrics
from pipeline.errors import LeaseLost, TaskEnded, TaskNotFound
from pipeline.queue import LANES, Counters, Ended, FairQueue, TaskState
from pipeline.recovery import tell_ledger

log = logging.getLogger(__name__)

_LOST = "its worker was lost"


def reap(queue: FairQueue, ledger: Ledger, counters: Counters) -> None:
    """Reap every lane, a batch at a time, count it and tell the ledger."""
    for lane in LANES:
        while reaped := queue.reap(lane):
            for task in reaped:
                counters.count(metrics.REAPED_TASKS, lane, "dead" if task.state is TaskState.DEAD else "queued")
                log.warning("a lease ran out", extra={"task_id": task.task_id, "state": task.state.value})
                _tell(queue, ledger, task)


def _tell(queue: FairQueue, ledger: Ledger, task: Ended) -> None:
    if task.state is TaskState.DEAD:
        tell_ledger(queue, ledger, task, f"{_LOST} each time")
        return
    try:
        ledger.put_back(task.task_id, task.token, "queued", task.code, _LOST, None)
    except (LeaseLost, TaskEnded, TaskNotFound) as exc:
        # A newer lease has begun, or the old one had finished but could not say so: the ledger is right as it is.
        log.info("the ledger is further: %s", exc, extra={"task_id": task.task_id})
