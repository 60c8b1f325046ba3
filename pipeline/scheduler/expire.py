"""Duty: tasks that have waited longer than their TTL end."""

import logging

from models.ledger import Ledger
from pipeline.queue import FairQueue
from pipeline.recovery import tell_ledger

log = logging.getLogger(__name__)


def expire(queue: FairQueue, ledger: Ledger) -> None:
    """Expire all tasks that are due, a batch at a time, and tell the ledger."""
    while expired := queue.expire():
        for task in expired:
            log.warning("a task waited too long", extra={"task_id": task.task_id})
            tell_ledger(queue, ledger, task, "it waited longer than its time to live")
