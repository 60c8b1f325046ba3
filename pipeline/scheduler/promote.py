"""Duty: delayed tasks that are due go back in line."""

import logging

from pipeline.queue import FairQueue

log = logging.getLogger(__name__)


def promote(queue: FairQueue) -> None:
    """Promote all tasks that are due, a batch at a time."""
    while promoted := queue.promote():
        log.info("delayed tasks are back in line", extra={"tasks": len(promoted)})
