"""What the image and the text actor do alike: screen what is there, and say so when something was found."""

import logging
from collections.abc import Callable
from dataclasses import asdict

from models.ledger import DetectionRecord
from pipeline.clock import Clock
from pipeline.detector.findings import Screening

log = logging.getLogger("pipeline.hits")


def screened(clock: Clock, text: str, screen: Callable[[], Screening]) -> tuple[Screening, DetectionRecord]:
    """Screen, and return what was found besides its record, which says how long that took."""
    began_ms = clock.monotonic_ms()
    screening = screen()
    return screening, _record_of(text, screening, clock.monotonic_ms() - began_ms)


def log_hits(screening: Screening) -> None:
    """Write the business log line of a task that found something: one line, the words, never the text."""
    if screening.hits:
        words = sorted({hit.word for hit in screening.hits})
        log.info("sensitive words found", extra={"words": words, "hits": len(screening.hits)})


def _record_of(text: str, screening: Screening, elapsed_ms: int) -> DetectionRecord:
    return DetectionRecord(
        text=text,
        suggestion=screening.suggestion,
        hits=[asdict(hit) for hit in screening.hits],
        contacts=[asdict(contact) for contact in screening.contacts],
        label=screening.label,
        level=screening.level,
        score=screening.score,
        masked=screening.masked,
        elapsed_ms=elapsed_ms,
        versions=[asdict(version) for version in screening.versions],
    )
