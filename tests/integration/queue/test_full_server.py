"""A server without memory: no new work comes in, and what is there comes to an end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue, TaskState
from tests.support.line import BLUE, RED, Line

MOVES: dict[str, Callable[[FairQueue, str, int], object]] = {
    "renew": lambda queue, task_id, token: queue.renew(task_id, token),
    "complete": lambda queue, task_id, token: queue.complete(task_id, token, cost_ms=1),
    "retry": lambda queue, task_id, token: queue.retry(task_id, token, cost_ms=1, delay_ms=1),
    "defer": lambda queue, task_id, token: queue.defer(task_id, token, code="no_capable_worker"),
    "hand_back": lambda queue, task_id, token: queue.hand_back(task_id, token),
    "bury": lambda queue, task_id, token: queue.bury(
        task_id, token, ending=TaskState.FAILED, code="bad_image", message="", cost_ms=1
    ),
}


@contextmanager
def full(line: Line) -> Iterator[None]:
    """No byte more, inside the block."""
    line.client.config_set("maxmemory", 1)
    try:
        yield
    finally:
        line.client.config_set("maxmemory", 0)


@pytest.mark.feature("Q4")
@pytest.mark.parametrize("mac", [RED, BLUE])
def test_new_work_is_refused_and_leaves_nothing(line: Line, mac: str) -> None:
    line.submit(RED, 2)
    before = line.snapshot()

    with full(line), pytest.raises(QueueUnavailable):
        line.submit(mac)

    assert line.snapshot() == before
    line.submit(mac)
    line.assert_books_balance()


@pytest.mark.feature("Q7")
@pytest.mark.parametrize("name", MOVES)
def test_work_that_is_there_is_claimed_started_and_ended(line: Line, name: str) -> None:
    line.submit(RED, 2)

    with full(line):
        claim = line.claim()
        line.queue.start(claim.task_id, claim.token)
        MOVES[name](line.queue, claim.task_id, claim.token)

    line.assert_books_balance()


def test_a_lost_lease_is_taken_back(line: Line) -> None:
    line.submit(RED)
    line.claim()
    line.clock.advance(line.rules.lease_ms + 1)

    with full(line):
        assert line.queue.reap("ocr")

    line.assert_books_balance()
