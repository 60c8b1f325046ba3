"""A picture's task, run by hand: what was read is screened line by line and stored whole."""

from pathlib import Path
from typing import Any

import pytest

from models.base import Database, connection
from models.ledger import Ledger
from pipeline.actors.ocr import OcrWork
from pipeline.ocr.types import OcrLine, OcrResult
from pipeline.storage import ObjectStore
from tests.support.clock import FakeClock
from tests.support.records import new_task
from tests.support.word_lists import Lists
from web.views import task_answer


class TwoLines:
    """A pool that reads the same two lines in every picture."""

    def read(self, image: bytes) -> OcrResult:
        texts = (("专业代开", 0), ("发票13800138000", 24))
        lines = (OcrLine(text, 0.9, ((0, y), (100, y), (100, y + 20), (0, y + 20))) for text, y in texts)
        return OcrResult(tuple(lines), 100, 44, 1.0, "rapid", "small", {})


@pytest.mark.feature("D3")
def test_a_word_over_two_lines_is_stored_and_shown_with_its_places(
    database: Database, clock: FakeClock, store: ObjectStore, tmp_path: Path
) -> None:
    ledger = Ledger(database, clock)
    pool: Any = TwoLines()
    lists = Lists(database, store, tmp_path / "words", clock)
    lists.publish("house", "代开发票")
    work = OcrWork(ledger, store, pool, lists.follower(), clock, is_image_deleted=False)
    with connection(database):
        ledger.accept(new_task("t", payload={"object": "images/t", "words": []}))
        store.put("images/t", b"picture")

        work.run("t", 1, 1)

        view = ledger.view("t")
    assert view
    assert view.detection
    assert view.detection.text == "专业代开\n发票13800138000"
    assert view.detection.masked == "专业**\n**13800138000"
    shown = task_answer(view, None).detection
    assert shown
    (hit,) = shown.hits
    assert [(one.line, one.start, one.end) for one in hit.segments] == [(0, 2, 4), (1, 0, 2)]
    assert hit.segments[0].box == [(50.0, 0.0), (100.0, 0.0), (100.0, 20.0), (50.0, 20.0)]
    assert [(one.kind, one.start) for one in shown.contacts] == [("phone_cn", 7)]
    assert (shown.suggestion, shown.level) == ("block", 3)
    assert [(one.scope, one.name, one.version) for one in shown.versions] == [("global", "house", 1)]
    assert hit.list_name == "house"
    lists.close()
