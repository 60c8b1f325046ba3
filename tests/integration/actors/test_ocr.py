"""A picture's task, run by hand: what was read is screened line by line and stored whole."""

from collections.abc import Iterator
from typing import Any

import pytest

from models.base import Database, connection, write
from models.ledger import Ledger, TaskView
from models.readings import Readings
from models.sites import Site
from pipeline.actors.ocr import OcrWork
from pipeline.lists.following import FollowedLists
from pipeline.ocr.types import OcrLine, OcrResult
from pipeline.storage import ObjectStore
from tests.support.clock import FakeClock
from tests.support.records import new_task
from tests.support.word_lists import Lists
from web.views import task_answer


class TwoLines:
    """Engines that read the same two lines in every picture, and count the pictures."""

    recipe = "of rapid"
    pictures = 0

    def read(self, image: bytes) -> OcrResult:
        self.pictures += 1
        texts = (("专业代开", 0), ("发票13800138000", 24))
        lines = (OcrLine(text, 0.9, ((0, y), (100, y), (100, y + 20), (0, y + 20))) for text, y in texts)
        return OcrResult(tuple(lines), 100, 44, 1.0, "rapid", "small", {})


@pytest.mark.feature("D3")
def test_a_word_over_two_lines_is_stored_and_shown_with_its_places(
    database: Database, clock: FakeClock, store: ObjectStore, lists: Lists
) -> None:
    ledger = Ledger(database, clock)
    engines: Any = TwoLines()
    lists.publish("house", "代开发票")
    work = OcrWork(ledger, store, engines, lists.follower(), clock, False, None)
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


class Reader:
    """Runs picture after picture with readings that serve for a minute."""

    def __init__(self, database: Database, clock: FakeClock, store: ObjectStore, lists: FollowedLists) -> None:
        self.ledger, self.clock, self.store = Ledger(database, clock), clock, store
        self.engines: Any = TwoLines()
        readings = Readings(database, clock, 60_000)
        self.work = OcrWork(self.ledger, store, self.engines, lists, clock, False, readings)

    def read(self, task_id: str, image: bytes = b"picture", **changes: Any) -> TaskView:
        """Run one task to its end."""
        self.ledger.accept(new_task(task_id, payload={"object": f"images/{task_id}", "words": []}, **changes))
        self.store.put(f"images/{task_id}", image)
        self.work.run(task_id, 1, 1)
        view = self.ledger.view(task_id)
        assert view
        return view

    def reused_from(self, task_id: str) -> str | None:
        """Run one task with the same picture; whose reading it got."""
        ocr = self.read(task_id).ocr
        assert ocr
        return ocr.reused_from


@pytest.fixture
def reader(database: Database, clock: FakeClock, store: ObjectStore, lists: Lists) -> Iterator[Reader]:
    with connection(database):
        lists.publish("house", "代开发票")
        yield Reader(database, clock, store, lists.follower())


@pytest.mark.feature("O8")
def test_the_same_image_again_is_not_read_again_and_says_so(reader: Reader) -> None:
    first, again = reader.read("t"), reader.read("u")

    assert reader.engines.pictures == 1
    assert first.ocr
    assert again.ocr
    assert (first.ocr.reused_from, again.ocr.reused_from) == (None, "t")
    assert (again.ocr.text, again.ocr.lines) == (first.ocr.text, first.ocr.lines)
    assert [(step.state, step.reason) for step in again.steps if step.name == "ocr"] == [
        ("skipped", "the same image was read for task t")
    ]
    # It is screened all the same: the words may be others by now.
    assert again.detection
    assert again.detection.masked == "专业**\n**13800138000"


@pytest.mark.feature("O8")
def test_a_reading_serves_for_its_time_and_is_not_prolonged_by_serving(reader: Reader) -> None:
    reader.read("t")
    reader.clock.advance(59_999)
    assert reader.reused_from("u") == "t"
    reader.clock.advance(1)

    assert reader.reused_from("v") is None
    assert reader.engines.pictures == 2


@pytest.mark.feature("O8")
def test_another_site_another_engine_or_another_image_is_read(reader: Reader) -> None:
    reader.read("t")
    with write():
        Site.insert(site="north", created_ms=0).returning(Site.site).execute()
    reader.read("u", site="north")
    reader.read("v", image=b"picture 2")
    reader.engines.recipe = "of paddle"
    reader.read("w")

    assert reader.engines.pictures == 4
