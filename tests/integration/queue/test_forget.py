"""forget: a task that was never wanted leaves no trace, wherever it is."""

import pytest
import redis

from pipeline.queue import Rules
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line


@pytest.mark.feature("Q13")
@pytest.mark.parametrize("place", ["queued", "delayed", "leased", "running"])
def test_forgotten_task_leaves_no_trace_and_its_id_may_come_again(line: Line, place: str) -> None:
    (task_id,) = line.submit(RED)
    token = 0
    if place != "queued":
        token = line.claim().token
    if place == "running":
        line.queue.start(task_id, token)
    if place == "delayed":
        line.queue.retry(task_id, token, cost_ms=1, delay_ms=9_000)

    assert line.queue.forget(task_id, token)

    assert line.inspector.find(task_id) is None
    (ocr, *_) = line.inspector.audit()
    assert (ocr.accepted, ocr.waiting, ocr.delayed, ocr.leased, ocr.faults) == (0, 0, 0, 0, ())
    assert line.client.get(line.queue.keys.global_pending()) == b"0"
    assert line.queue.claim("ocr") == []


def test_a_task_that_has_gone_on_or_ended_is_not_forgotten(line: Line) -> None:
    gone_on, ended = line.submit(RED, 2)
    claim = line.claim()
    line.queue.cancel(ended)
    before = line.snapshot()

    assert not line.queue.forget(gone_on, claim.token - 1)
    assert not line.queue.forget(ended, 0)
    assert not line.queue.forget("nobody", 0)

    assert line.snapshot() == before


@pytest.mark.feature("Q11")
def test_forgetting_gives_a_full_device_its_room_back(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=1, overload_scope="all"))
    (task_id,) = line.submit(RED)

    line.queue.forget(task_id, 0)

    line.submit(BLUE)
    line.assert_books_balance()
