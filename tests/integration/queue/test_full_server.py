"""A server without memory: no new work comes in, and what is there comes to an end."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pipeline.errors import QueueUnavailable
from pipeline.queue import Roster
from tests.support.line import BLUE, LEAVING, RED, Line, Move

MOVES: dict[str, Move] = {
    "renew": lambda queue, task_id, token: queue.renew(task_id, token),
    **LEAVING,
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


def test_a_lease_from_before_the_clock_was_set_back_is_shortened(line: Line) -> None:
    line.submit(RED)
    line.claim()
    line.clock.advance(-3_600_000)

    with full(line):
        line.queue.reap("ocr")

    line.clock.advance(line.rules.lease_ms)
    assert line.queue.reap("ocr")
    line.assert_books_balance()


def test_what_has_waited_too_long_expires_though_another_is_at_work_on_its_own(line: Line) -> None:
    worked_on, _ = line.submit(RED, 2)
    line.claim()
    line.clock.advance(line.rules.ttl_ms)

    with full(line):
        ended = line.queue.expire()

    assert [end.task_id for end in ended] == ["aa-2"]
    assert worked_on == "aa-1"
    line.assert_books_balance()


@pytest.mark.feature("S2")
def test_workers_stay_known_and_the_watermark_fresh(line: Line) -> None:
    roster = Roster(line.client, line.inspector.keys, line.clock)

    with full(line):
        roster.enter("h:1", {"queues": "ocr", "hostname": "h", "word_faults": "Ünïcode \n"}, ttl_ms=60_000)
        roster.publish_watermark({"total_pending": 3}, ttl_ms=20_000)

    (worker,) = roster.workers()
    assert worker["word_faults"] == "Ünïcode \n"
    assert line.inspector.watermark() == {"total_pending": 3}
    assert 0 < line.client.pttl(line.inspector.keys.worker("h:1")) <= 60_000
    assert 0 < line.client.pttl(line.inspector.keys.watermark()) <= 20_000
