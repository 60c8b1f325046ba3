"""Spans as OpenTelemetry writes them: whose trace they belong to, and what they never say."""

import logging

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pipeline import tracing
from pipeline.errors import StorageUnavailable
from pipeline.tracing import Scope
from pipeline.tracing.otel import ToldOnce
from tests.support.written_traces import WrittenTraces, traceparent_of

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = GIVEN[:-2] + "00"


def test_a_span_goes_on_below_a_traceparent() -> None:
    traces = WrittenTraces()
    with Scope(traces.begin("POST", GIVEN, "server", {})), tracing.step("fetch"):
        pass
    fetch, post = traces.spans
    assert traceparent_of(post)[:36] == GIVEN[:36]
    assert post.parent
    assert f"{post.parent.span_id:016x}" == GIVEN[36:52]
    assert fetch.parent
    assert fetch.parent.span_id == post.get_span_context().span_id


@pytest.mark.parametrize("given", [None, "", "hello", "00-0-0-01", GIVEN[:36] + "0" * 16 + "-01", "ff" + GIVEN[2:]])
def test_what_is_no_traceparent_begins_a_new_trace(given: str | None) -> None:
    traces = WrittenTraces()
    traces.begin("POST", given, "server", {}).end()
    (span,) = traces.spans
    assert span.parent is None


def test_whoever_asks_not_to_be_traced_is_not() -> None:
    traces = WrittenTraces()
    with Scope(traces.begin("POST", UNSAMPLED, "server", {})):
        carried = tracing.traceparent()
        with tracing.apart("submit"), tracing.step("store"):
            pass
    traces.record("wait", carried, 1, 2, {})
    assert traces.spans == []


def test_opentelemetry_switched_off_by_its_own_setting_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    traces = WrittenTraces()
    with Scope(traces.begin("POST", None, "server", {})), tracing.apart("submit"), tracing.step("store"):
        assert tracing.traceparent() is None
    assert traces.spans == []


def test_a_trace_apart_is_linked_with_the_span_it_came_from() -> None:
    traces = WrittenTraces()
    with Scope(traces.begin("POST", None, "server", {})), tracing.apart("submit"):
        pass
    submit, post = traces.spans
    assert submit.parent is None
    assert submit.get_span_context().trace_id != post.get_span_context().trace_id
    assert [link.context for link in submit.links] == [post.get_span_context()]


def test_a_failure_is_told_by_its_code_alone() -> None:
    traces = WrittenTraces()
    with pytest.raises(StorageUnavailable), Scope(traces.begin("execute_ocr", None, "consumer", {})):
        raise StorageUnavailable("刷单")
    (span,) = traces.spans
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert dict(span.attributes or {}) == {"error.type": "storage_unavailable"}
    assert not span.events


def test_what_is_over_is_written_with_its_own_times() -> None:
    traces = WrittenTraces()
    traces.record("wait", GIVEN, 1_000, 3_000, {"fairlane.lane": "text"})
    (span,) = traces.spans
    assert (span.start_time, span.end_time) == (1_000_000_000, 3_000_000_000)


class Moody(InMemorySpanExporter):
    """Takes spans, refuses them, or breaks."""

    mood: SpanExportResult | Exception = SpanExportResult.SUCCESS
    asked = 0

    def export(self, spans: object) -> SpanExportResult:
        self.asked += 1
        if isinstance(self.mood, Exception):
            raise self.mood
        return self.mood


def test_a_silent_endpoint_is_told_of_once_and_so_is_its_return(caplog: pytest.LogCaptureFixture) -> None:
    moody = Moody()
    exporter = ToldOnce(moody, "http://collector")
    with caplog.at_level(logging.INFO):
        for moody.mood in (SpanExportResult.FAILURE, RuntimeError("x"), SpanExportResult.FAILURE):
            assert exporter.export([]) is SpanExportResult.FAILURE
        moody.mood = SpanExportResult.SUCCESS
        exporter.export([])
        exporter.export([])
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_stop_gives_up_what_is_left_after_the_first_failure() -> None:
    moody = Moody()
    moody.mood = SpanExportResult.FAILURE
    exporter = ToldOnce(moody, "http://collector")
    exporter.hurry()
    for _ in range(3):
        assert exporter.export([]) is SpanExportResult.FAILURE
    assert moody.asked == 1
