"""The steps of an actor as spans below its attempt, and what an attempt to deliver says of itself."""

from typing import Any

import pytest
import redis
from opentelemetry.sdk.trace import ReadableSpan

from models.base import Database, connection
from models.ledger import Ledger
from pipeline.actors.ocr import OcrWork
from pipeline.ocr.types import OcrLine, OcrResult
from pipeline.storage import ObjectStore
from pipeline.tracing import Scope
from tests.support.announcements import Bureau
from tests.support.clock import FakeClock
from tests.support.receivers import Manner, answering, receiving, thanking
from tests.support.records import new_task
from tests.support.word_lists import Lists
from tests.support.written_traces import WrittenTraces


class OneLine:
    """Engines that read the same line in every picture."""

    recipe = "of rapid"

    def read(self, image: bytes) -> OcrResult:
        line = OcrLine("代开发票", 0.9, ((0, 0), (100, 0), (100, 20), (0, 20)))
        return OcrResult((line,), 100, 20, 1.0, "rapid", "small", {})


def begun(traces: WrittenTraces, name: str) -> Scope:
    return Scope(traces.begin(name, None, "consumer", {}))


@pytest.mark.parametrize("word", ["代开发票", "没有"])
def test_each_step_of_a_picture_is_a_span_and_what_was_skipped_is_none(
    database: Database, clock: FakeClock, store: ObjectStore, lists: Lists, word: str
) -> None:
    ledger, traces = Ledger(database, clock), WrittenTraces()
    engines: Any = OneLine()
    lists.publish("house", word)
    work = OcrWork(ledger, store, engines, lists.follower(), clock, True, None)
    with connection(database):
        ledger.accept(new_task("t", payload={"object": "images/t", "words": []}))
        store.put("images/t", b"picture")
        with begun(traces, "execute_ocr"):
            work.run("t", 1, 1)

    *steps, attempt = traces.spans
    archived = ["archive"] if word == "代开发票" else []
    assert [span.name for span in steps] == ["fetch", "ocr", "screen", *archived, "store", "cleanup"]
    assert all(span.parent == attempt.get_span_context() for span in steps)
    assert all(not span.attributes and not span.events for span in traces.spans)


@pytest.mark.parametrize(
    ("manner", "status", "error"),
    [
        (thanking, 204, None),
        (answering(b"HTTP/1.1 500 Oh\r\n\r\n"), 500, "500"),
        (answering(b""), None, "not_delivered"),
    ],
    ids=["taken", "refused", "broken"],
)
def test_an_attempt_to_deliver_says_of_which_task_it_is_and_how_it_went(
    valkey: redis.Redis, database: Database, clock: FakeClock, manner: Manner, status: int | None, error: str | None
) -> None:
    bureau, traces = Bureau(valkey, database, clock), WrittenTraces()
    with receiving(answering(b"HTTP/1.1 503 Later\r\n\r\n")) as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.settle()
        receiver.manner = manner
        with begun(traces, "execute_notify"):
            assert bureau.settle(5) == 1

    (span,) = traces.spans
    said = {
        "fairlane.task_id": "t1",
        "fairlane.delivery": bureau.row().id,
        "fairlane.attempt": 2,
        "http.response.status_code": status,
        "error.type": error,
    }
    assert notes_of(span) == {name: value for name, value in said.items() if value is not None}


def notes_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})
