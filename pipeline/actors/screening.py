"""What the image and the text actor do alike: screen a text, and say so when something was found."""

import logging
from dataclasses import asdict

from models.ledger import DetectionRecord
from pipeline.detector.findings import Screening

log = logging.getLogger("pipeline.hits")


def detection_of(text: str, screening: Screening) -> DetectionRecord:
    """The record of a screening."""
    return DetectionRecord(text, screening.suggestion, [asdict(hit) for hit in screening.hits])


def log_hits(screening: Screening) -> None:
    """Write the business log line of a task that found something: one line, the words, never the text."""
    if screening.hits:
        words = sorted({hit.word for hit in screening.hits})
        log.info("sensitive words found", extra={"words": words, "hits": len(screening.hits)})
