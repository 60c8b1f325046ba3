"""Readings that serve the same image again."""

from dataclasses import replace

from models.base import Database, connection
from models.results import OcrResult
from models.rows import OcrRecord, ocr_record
from pipeline.clock import Clock


class Readings:
    """Finds what was read of an image before.

    Args:
        longest_ago_ms: older readings serve no more.
    """

    def __init__(self, database: Database, clock: Clock, longest_ago_ms: int) -> None:
        self._database = database
        self._clock = clock
        self._longest_ago_ms = longest_ago_ms

    def earlier(self, reuse_key: str) -> OcrRecord | None:
        """The newest reading under this key, as it is to be stored for another task; None when there is none."""
        since_ms = self._clock.now_ms() - self._longest_ago_ms
        is_it = (OcrResult.reuse_key == reuse_key) & (OcrResult.created_ms > since_ms)
        with connection(self._database):
            found = OcrResult.select().where(is_it).order_by(OcrResult.created_ms.desc()).first()
            return replace(ocr_record(found), reused_from=found.task_id) if found else None
