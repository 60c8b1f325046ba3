"""start, renew, complete, retry, defer, hand_back, bury: what a holder may do, and nobody else."""

import pytest
import redis

from pipeline.errors import LeaseLost
from pipeline.queue import Rules, TaskState
from tests.support.clock import FakeClock
from tests.support.line import BLUE, LEAVING, RED, Line, Move

MOVES: dict[str, Move] = {
    "start": lambda queue, task_id, token: queue.start(task_id, token),
    "renew": lambda queue, task_id, token: queue.renew(task_id, token),
    **LEAVING,
}


@pytest.mark.feature("Q7")
@pytest.mark.parametrize("name", MOVES)
def test_a_stale_token_is_refused_and_changes_nothing(line: Line, name: str) -> None:
    line.submit(RED, 2)
    stale = line.claim()
    line.clock.advance(line.rules.lease_ms + 1)
    line.queue.reap("ocr")
    line.claim()
    before = line.snapshot()

    with pytest.raises(LeaseLost):
        MOVES[name](line.queue, stale.task_id, stale.token)

    assert line.snapshot() == before


@pytest.mark.feature("Q7")
@pytest.mark.parametrize("name", [name for name in MOVES if name not in {"start", "renew"}])
def test_a_second_end_of_a_lease_changes_nothing(line: Line, name: str) -> None:
    line.submit(RED, 2)
    claim = line.claim()
    MOVES[name](line.queue, claim.task_id, claim.token)
    before = line.snapshot()

    with pytest.raises(LeaseLost):
        MOVES[name](line.queue, claim.task_id, claim.token)

    assert line.snapshot() == before
    line.assert_books_balance()


@pytest.mark.parametrize("name", MOVES)
def test_an_unknown_task_is_refused_and_changes_nothing(line: Line, name: str) -> None:
    with pytest.raises(LeaseLost):
        MOVES[name](line.queue, "never-heard-of", 1)

    assert line.snapshot() == {}


def test_start_counts_one_attempt_however_often_it_is_called(line: Line) -> None:
    line.submit(RED)
    claim = line.claim()

    assert [line.queue.start(claim.task_id, claim.token).attempt for _ in range(2)] == [1, 1]


@pytest.mark.feature("Q8")
def test_a_renewed_lease_is_not_reaped(line: Line) -> None:
    line.submit(RED)
    claim = line.claim()
    for _ in range(5):
        line.clock.advance(line.rules.lease_ms - 1)
        line.queue.renew(claim.task_id, claim.token)

    assert line.queue.reap("ocr") == []


def test_a_task_held_too_long_is_not_renewed(line: Line) -> None:
    line.submit(RED)
    claim = line.claim()
    line.clock.advance(line.rules.max_run_ms + 1)

    with pytest.raises(LeaseLost, match="longest run"):
        line.queue.renew(claim.task_id, claim.token)


def test_a_task_that_runs_on_is_charged_while_it_runs(line: Line) -> None:
    line.submit(RED, 6)
    line.submit(BLUE, 6)
    line.drain(2, cost_ms=100)
    long_runner = line.claim()
    line.clock.advance(20_000)
    line.queue.renew(long_runner.task_id, long_runner.token)

    served = line.drain(4, cost_ms=100)

    assert all(task_id.startswith("bb") for task_id in served)


@pytest.mark.feature("Q15")
def test_retry_delays_the_task_and_lets_its_device_go_on(line: Line) -> None:
    first, second = line.submit(RED, 2)
    claim = line.claim()

    due_ms = line.queue.retry(claim.task_id, claim.token, cost_ms=10, delay_ms=5_000)

    assert due_ms == line.clock.now_ms() + 5_000
    assert line.drain(1, cost_ms=10) == [second]
    assert not line.queue.claim("ocr")
    line.clock.advance(5_000)
    assert line.queue.promote() == [first]
    assert line.claim().task_id == first
    line.assert_books_balance()


@pytest.mark.feature("Q14")
def test_defer_waits_30_60_120_240_480_seconds_then_the_task_is_dead(line: Line) -> None:
    (task_id,) = line.submit(RED)
    waits = []
    for _ in range(5):
        claim = line.claim()
        line.queue.start(task_id, claim.token)
        assert line.queue.defer(task_id, claim.token, code="no_capable_worker").state is TaskState.DELAYED
        found = line.inspector.find(task_id)
        assert found is not None
        assert found.attempts == 0
        waits.append((found.due_ms - line.clock.now_ms()) // 1000)
        line.clock.advance(found.due_ms - line.clock.now_ms())
        line.queue.promote()
        line.queue.resume()

    claim = line.claim()
    end = line.queue.defer(task_id, claim.token, code="no_capable_worker")

    assert waits == [30, 60, 120, 240, 480]
    assert end.state is TaskState.DEAD
    assert line.inspector.dead_letters()[0]["code"] == "no_capable_worker"
    line.assert_books_balance()


@pytest.mark.feature("Q14")
def test_a_new_submit_does_not_end_a_backoff_early(line: Line) -> None:
    line.submit(RED, 2)
    claim = line.claim()
    line.queue.defer(claim.task_id, claim.token, code="no_capable_worker")

    line.submit(RED)

    assert not line.queue.claim("ocr")
    line.clock.advance(29_999)
    assert line.queue.resume() == []
    line.clock.advance(1)
    assert line.queue.resume() == [RED]
    line.assert_books_balance()


@pytest.mark.feature("S7")
def test_hand_back_returns_the_task_to_the_head_without_an_attempt(line: Line) -> None:
    ids = line.submit(RED, 3)
    claim = line.claim()
    line.queue.start(claim.task_id, claim.token)

    line.queue.hand_back(claim.task_id, claim.token)

    found = line.inspector.find(ids[0])
    assert found is not None
    assert (found.attempts, found.losses) == (0, 0)
    assert line.drain(3) == ids


@pytest.mark.feature("Q16")
def test_bury_keeps_the_full_record(line: Line) -> None:
    (task_id,) = line.submit(RED, payload=b'{"object":"k"}')
    claim = line.claim()
    line.queue.start(task_id, claim.token)

    line.queue.bury(task_id, claim.token, ending=TaskState.FAILED, code="bad_image", message="cut short", cost_ms=7)

    (letter,) = line.inspector.dead_letters()
    assert letter == {
        "task_id": task_id,
        "mac": RED,
        "lane": "ocr",
        "state": "failed",
        "code": "bad_image",
        "message": "cut short",
        "attempts": 1,
        "defers": 0,
        "losses": 0,
        "created_ms": line.clock.now_ms(),
        "dead_ms": line.clock.now_ms(),
        "payload": '{"object":"k"}',
    }


@pytest.mark.feature("Q16")
def test_only_the_newest_dead_letters_are_kept(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(dead_letter_max=2))
    ids = line.submit(RED, 3)
    for task_id in ids:
        token = line.claim().token
        line.queue.bury(task_id, token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=1)

    assert [letter["task_id"] for letter in line.inspector.dead_letters()] == ids[:0:-1]
