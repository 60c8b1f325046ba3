"""The current span: there only inside its block, and without one nothing is done."""

import pytest

from pipeline import tracing
from pipeline.errors import StorageUnavailable
from pipeline.tracing.spans import Scope

OURS = "00-11111111111111111111111111111111-2222222222222222-01"
SAME_TRACE = "00-11111111111111111111111111111111-3333333333333333-01"
OTHER_TRACE = "00-44444444444444444444444444444444-5555555555555555-01"


class Noted:
    """A span that keeps what it is told."""

    def __init__(self, traceparent: str = OURS) -> None:
        self.traceparent = traceparent
        self.told: list[object] = []

    def child(self, name: str) -> "Noted":
        self.told.append(name)
        return self

    apart = child

    def note(self, name: str, value: str | int) -> None:
        self.told.append((name, value))

    def fail(self, code: str) -> None:
        self.told.append(f"failed: {code}")

    def end(self) -> None:
        self.told.append("end")


def test_without_a_span_a_step_makes_nothing() -> None:
    assert tracing.step("fetch") is tracing.step("store") is tracing.apart("submit")
    with tracing.step("fetch"):
        tracing.note("fairlane.lane", "text")
        tracing.fail("bad_image")
        assert tracing.traceparent() is None


def test_a_span_is_the_current_one_until_it_is_closed() -> None:
    span = Noted()
    with Scope(span):
        assert tracing.traceparent() == OURS
        tracing.note("fairlane.lane", "text")
    assert tracing.traceparent() is None
    assert span.told == [("fairlane.lane", "text"), "end"]


@pytest.mark.parametrize(
    ("error", "code"), [(StorageUnavailable("刷单"), "storage_unavailable"), (KeyError("刷单"), "KeyError")]
)
def test_a_step_that_fails_says_its_code_and_not_its_words(error: Exception, code: str) -> None:
    span = Noted()
    with Scope(span), pytest.raises(type(error)), tracing.step("fetch"):
        raise error
    assert span.told == ["fetch", f"failed: {code}", "end", "end"]


def test_only_a_span_of_the_same_trace_continues_it() -> None:
    assert tracing.continued(SAME_TRACE) == SAME_TRACE
    with Scope(Noted()):
        assert tracing.continued(SAME_TRACE) == OURS
        assert tracing.continued(OTHER_TRACE) == OTHER_TRACE
        assert tracing.continued(None) is None
