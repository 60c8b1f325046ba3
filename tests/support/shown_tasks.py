"""Tasks that have ended in some way, put where a dashboard shows them."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from models.base import bind, connection
from models.ledger import DetectionRecord, Finished, OcrRecord
from pipeline.clock import SystemClock
from pipeline.submission import ImageSubmission, TextSubmission
from tests.support.dashboard import Dashboard
from tests.support.pictures import corner_marked, encoded
from tests.support.records import new_task

#: Texts that a device may send to whoever looks: markup, addresses that run, turned directions, no place to break.
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "javascript:alert(3)",
    '"><svg onload=alert(4)>',
    "\u202egnp.elif\u202c \u2066turned",
    "{{alert(5)}} ${alert(6)} %3Cscript%3E",
    "W" * 200,
)
_WIDTH_PX, _HEIGHT_PX = 60, 40
_numbers = itertools.count(1)


class ShownTasks:
    """Tasks of one service, whose results a test makes up."""

    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard

    def done_text(self, mac: str, text: str, *words: str, versions: tuple[dict[str, Any], ...] = ()) -> str:
        """A text in which these words of it were found; return the id of its task."""
        hits = [_hit(text, word) for word in words]
        contact = {**_hit(text, words[-1]), "kind": "wechat", "value": words[-1], "level": 2, "action": "tag"}
        found = DetectionRecord(text, "block", hits, [contact], words[0], 4, versions=list(versions))
        with self._at_home():
            task_id = self._accepted(mac, "text", text)
            self._dashboard.ledger.start(task_id, 1, 1)
            self._dashboard.ledger.finish(task_id, 1, Finished(None, found, [], 5))
        return task_id

    def done_image(self, mac: str, lines: tuple[str, ...], hit_line: int) -> str:
        """An image with lines of text below one another, one of which is a hit as a whole."""
        text, word = "\n".join(lines), lines[hit_line]
        segment = {"line": hit_line, "start": 0, "end": len(word), "box": _box(hit_line, len(lines))}
        found = DetectionRecord(text, "block", [{**_hit(text, word), "segments": [segment]}], level=3)
        read = [{"text": line, "confidence": 0.9, "box": _box(number, len(lines))} for number, line in enumerate(lines)]
        ocr = OcrRecord(text, read, len(read), 0.9, _WIDTH_PX, _HEIGHT_PX, "rapid", "small", {"read": 40})
        with self._at_home():
            image = ImageSubmission(mac, encoded(corner_marked()), task_id=_new_id())
            task_id = self._dashboard.intake.submit_image(image).task_id
            self._dashboard.ledger.start(task_id, 1, 1)
            self._dashboard.ledger.finish(task_id, 1, Finished(ocr, found, [], 5))
        return task_id

    def dead(self, mac: str, message: str = "it took longer than 60 s", code: str = "engine_timeout") -> str:
        """A text whose task died; return its id."""
        with self._at_home():
            task_id = self._accepted(mac, "text", "有事请说")
            self._dashboard.ledger.start(task_id, 1, 3)
            self._dashboard.ledger.end(task_id, 1, "dead", code, message)
        return task_id

    def waiting(self, mac: str) -> str:
        """A text that waits, as no worker is there."""
        with self._at_home():
            return self._dashboard.intake.submit_text(TextSubmission(mac, "有事请说", task_id=_new_id())).task_id

    def _accepted(self, mac: str, lane: str, text: str) -> str:
        now_ms, task_id = SystemClock().now_ms(), _new_id()
        payload = {"text": text, "words": []}
        self._dashboard.ledger.accept(new_task(task_id, mac=mac, lane=lane, payload=payload, created_ms=now_ms))
        return task_id

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        """With the database of this service bound: another of the same tests may have bound its own."""
        bind(self._dashboard.database)
        with connection(self._dashboard.database):
            yield


def _new_id() -> str:
    return f"shown-{next(_numbers)}"


def _hit(text: str, word: str) -> dict[str, Any]:
    start = text.index(word)
    units = len(text[:start].encode("utf-16-le")) // 2
    return {
        "word": word,
        "list": "request",
        "category": word[:60],
        "list_name": word[:60],
        "start": start,
        "end": start + len(word),
        "start_utf16": units,
        "end_utf16": units + len(word.encode("utf-16-le")) // 2,
        "surface": word,
    }


def _box(number: int, count: int) -> list[list[int]]:
    height = _HEIGHT_PX // count
    top, bottom = number * height, (number + 1) * height - 2
    return [[2, top], [_WIDTH_PX - 2, top], [_WIDTH_PX - 2, bottom], [2, bottom]]
