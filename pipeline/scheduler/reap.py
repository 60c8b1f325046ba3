"""Duty: tasks whose worker was lost go back to the head of their line, or to the dead letters."""

import logging

from models.ledger import Ledger

from pipeline.queue import LANES, FairQueue, TaskState

log = logging.getLogger(__name__)


def reap(queue: FairQueue, ledger: Ledger) -> None:
    """Reap every lane, a batch at a time, and tell the ledger."""
    for lane in LANES:
        while reaped := queue.reap(lane):
            for task in reaped:
                log.warning("a lease ran out", extra={"task_id": task.task_id, "state": task.state.value})
                if task.state is TaskState.DEAD:
                    ledger.close(task.task_id, task.state.value, task.code, "its worker was lost each time")
                else:
                    ledger.reopen(task.task_id, task.token, "its worker was lost")
