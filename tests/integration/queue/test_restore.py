"""restore: what the ledger holds stands in the queue again where it stood, whatever the limits."""

import pytest
import redis

from pipeline.queue import Rules, Standing, Task, TaskState
from tests.support.clock import FakeClock
from tests.support.line import RED, Line


def standing(line: Line, task_id: str = "kept", **where: int) -> Standing:
    return Standing(Task(task_id, "ocr", RED, line.clock.now_ms()), **where)


@pytest.mark.feature("Q21")
def test_a_task_the_ledger_has_accepted_is_in_line_whatever_the_limits(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=1, max_total=1))
    line.submit(RED)

    assert line.queue.restore([standing(line)]) == [TaskState.QUEUED]

    assert line.inspector.lanes()[0].waiting == 2
    line.assert_books_balance()


def test_what_the_queue_still_knows_stays_as_it_is(line: Line) -> None:
    (known,) = line.submit(RED)
    line.claim()
    before = line.snapshot()

    assert line.queue.restore([standing(line, known, due_ms=9, attempts=4)]) == [TaskState.LEASED]

    assert line.snapshot() == before


@pytest.mark.feature("Q21")
def test_a_delayed_task_is_delayed_again_until_its_time(line: Line) -> None:
    line.queue.restore([standing(line, due_ms=line.clock.now_ms() + 5_000)])
    assert line.queue.claim("ocr") == []
    line.assert_books_balance()

    line.clock.advance(5_000)

    assert line.queue.promote() == ["kept"]
    assert line.claim().task_id == "kept"


def test_a_delay_that_is_over_is_none(line: Line) -> None:
    line.queue.restore([standing(line, due_ms=line.clock.now_ms() - 1)])

    assert line.claim().task_id == "kept"


@pytest.mark.feature("Q21")
def test_attempts_are_counted_on(line: Line) -> None:
    line.queue.restore([standing(line, attempts=3)])
    claim = line.claim()

    assert line.queue.start(claim.task_id, claim.token).attempt == 4


@pytest.mark.feature("Q7")
def test_tokens_grow_beyond_the_ones_the_ledger_has_seen_though_the_clock_is_behind(line: Line) -> None:
    last_token = (line.clock.now_ms() + 3_600_000) * 1_000
    line.queue.restore([standing(line, last_token=last_token)])

    assert line.claim().token > last_token


def test_a_delayed_task_past_its_time_to_live_is_not_ended_before_it_is_due(
    valkey: redis.Redis, clock: FakeClock
) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=1_000))
    old = Standing(Task("old", "ocr", RED, clock.now_ms() - 9_000), due_ms=clock.now_ms() + 30_000)
    line.queue.restore([old])

    clock.advance(29_999)

    assert line.queue.expire() == []
