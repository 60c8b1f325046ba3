"""Duty: devices whose backoff has ended are served again."""

import logging

from pipeline.queue import FairQueue

log = logging.getLogger(__name__)


def resume(queue: FairQueue) -> None:
    """Resume all devices that are due, a batch at a time."""
    while resumed := queue.resume():
        log.info("devices are back from backoff", extra={"devices": len(resumed)})
