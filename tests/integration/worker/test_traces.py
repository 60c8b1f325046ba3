"""The spans of attempts: below the span that put the task in line, one for each attempt, and none without a trace."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from models.ledger import NewTask
from pipeline import tracing
from pipeline.errors import BadImage, StorageUnavailable
from pipeline.middleware import AttemptTraces, LeaseRenewal
from pipeline.recovery import as_queued, recover
from tests.integration.worker.conftest import CLOCK, MAC, RULES, Shop
from tests.support.processes import wait_until
from tests.support.written_traces import WrittenTraces, traceparent_of

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def traces(shop: Shop) -> Iterator[WrittenTraces]:
    """Those of the shop's worker."""
    traces = WrittenTraces()
    shop.broker.add_middleware(AttemptTraces(traces, CLOCK, lease_ms=RULES.lease_ms), after=LeaseRenewal)
    yield traces
    shop.stop()


def accept(shop: Shop, task_id: str, traceparent: str | None = GIVEN) -> None:
    """Write the row; nothing is in line yet."""
    created_ms = CLOCK.now_ms()
    new = NewTask(task_id, "text", MAC, "local", "0" * 64, {"text": "x"}, 1, None, created_ms, traceparent=traceparent)
    shop.ledger.accept(new)


def put_in_line(shop: Shop, task_id: str) -> None:
    row = shop.ledger.get(task_id)
    assert row
    shop.queue.enqueue(as_queued(row))


def run(shop: Shop, task_id: str) -> None:
    accept(shop, task_id)
    put_in_line(shop, task_id)
    shop.start()
    wait_until(lambda: shop.has_ended(task_id))
    shop.stop()


def parent_of(span: ReadableSpan) -> str:
    assert span.parent
    return f"{span.parent.span_id:016x}"


def id_of(span: ReadableSpan) -> str:
    return f"{span.get_span_context().span_id:016x}"


def notes_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_an_attempt_and_the_wait_before_it_stand_below_the_request(shop: Shop, traces: WrittenTraces) -> None:
    seen: list[str | None] = []

    def work(*_: object) -> None:
        with tracing.step("screen"):
            seen.append(tracing.traceparent())

    shop.work = work
    run(shop, "t1")

    wait, claim, screen, attempt = (traces.named(name)[0] for name in ("wait", "claim", "screen", "execute_text"))
    assert len(traces.spans) == 4
    assert {traceparent_of(span)[3:35] for span in traces.spans} == {GIVEN[3:35]}
    assert parent_of(wait) == parent_of(attempt) == GIVEN[36:52]
    assert parent_of(claim) == parent_of(screen) == id_of(attempt)
    assert seen == [traceparent_of(screen)]
    assert wait.end_time == claim.start_time == attempt.start_time
    assert notes_of(attempt) == {
        "fairlane.task_id": "t1",
        "fairlane.mac": MAC,
        "fairlane.lane": "text",
        "fairlane.attempt": 1,
        "fairlane.ending": "complete",
    }


def test_a_retry_is_a_further_span_of_the_same_trace(shop: Shop, traces: WrittenTraces) -> None:
    def work(task_id: str, token: int, attempt: int) -> None:
        if attempt < 3:
            raise StorageUnavailable("of no concern")

    shop.work = work
    run(shop, "t1")

    attempts = [notes_of(span) for span in traces.named("execute_text")]
    assert [(notes["fairlane.attempt"], notes["fairlane.ending"]) for notes in attempts] == [
        (1, "retry"),
        (2, "retry"),
        (3, "complete"),
    ]
    assert [notes.get("error.type") for notes in attempts] == ["storage_unavailable", "storage_unavailable", None]
    assert {parent_of(span) for span in traces.named("execute_text")} == {GIVEN[36:52]}
    assert len(traces.named("wait")) == 1
    assert len(traces.named("claim")) == 3


def test_what_is_buried_says_why_by_its_code(shop: Shop, traces: WrittenTraces) -> None:
    def work(*_: object) -> None:
        raise BadImage("刷单")

    shop.work = work
    run(shop, "t1")

    (attempt,) = traces.named("execute_text")
    assert (notes_of(attempt)["fairlane.ending"], notes_of(attempt)["error.type"]) == ("bury", BadImage.code)
    assert not attempt.events


def test_a_task_without_a_trace_has_no_spans(shop: Shop, traces: WrittenTraces) -> None:
    accept(shop, "t1", None)
    put_in_line(shop, "t1")
    shop.start()
    wait_until(lambda: shop.has_ended("t1"))
    shop.stop()
    assert traces.spans == []


def test_a_task_recovered_from_the_database_goes_on_with_its_trace(shop: Shop, traces: WrittenTraces) -> None:
    accept(shop, "t1")
    assert recover(shop.queue, shop.inspector, shop.ledger).enqueued == 1
    shop.start()
    wait_until(lambda: shop.has_ended("t1"))
    shop.stop()
    assert parent_of(traces.named("execute_text")[0]) == GIVEN[36:52]
