"""What travels with a task through the queue comes out as it went in; what others put there is left alone."""

import pytest

from pipeline.tracing import Carried, carried_in, payload_of

TRACEPARENT = "00-11111111111111111111111111111111-2222222222222222-01"


def test_a_trace_and_its_time_come_out_as_they_went_in() -> None:
    assert carried_in(payload_of(TRACEPARENT, 1_000)) == Carried(TRACEPARENT, 1_000)


def test_a_task_without_a_trace_carries_nothing() -> None:
    assert payload_of(None, 1_000) is payload_of(None, 2_000)
    assert carried_in(payload_of(None, 1_000)) is None


@pytest.mark.parametrize(
    "payload",
    [b"", b"\xff", b"[]", b"null", b'{"object": "x"}', b'{"traceparent": 7, "since_ms": 1}', b'{"traceparent": "x"}'],
)
def test_anything_else_carries_no_trace(payload: bytes) -> None:
    assert carried_in(payload) is None
