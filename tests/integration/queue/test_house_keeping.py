"""reap, expire, promote, resume, cancel: what comes back, what ends, and that nothing else is touched."""

import pytest
import redis

from pipeline.errors import TaskEnded, TaskNotFound
from pipeline.queue import Ended, Rules, TaskState
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line


@pytest.mark.feature("Q8")
def test_reap_returns_an_overdue_task_to_the_front_of_its_device(line: Line) -> None:
    ids = line.submit(RED, 3)
    claim = line.claim()
    line.queue.start(claim.task_id, claim.token)
    line.clock.advance(line.rules.lease_ms)

    assert line.queue.reap("ocr") == [Ended(ids[0], TaskState.QUEUED, claim.token, "worker_crash")]

    found = line.inspector.find(ids[0])
    assert found is not None
    assert found.attempts == 1
    assert line.drain(3) == ids
    line.assert_books_balance()


def test_reap_leaves_leases_alone_that_still_hold(line: Line) -> None:
    line.submit(RED)
    line.claim()
    line.clock.advance(line.rules.lease_ms - 1)
    before = line.snapshot()

    assert line.queue.reap("ocr") == []
    assert line.snapshot() == before


@pytest.mark.feature("Q9")
def test_a_task_that_loses_three_workers_is_dead_and_the_others_are_served(line: Line) -> None:
    poison, innocent = line.submit(RED, 2)
    for _ in range(3):
        assert line.claim().task_id == poison
        line.clock.advance(line.rules.lease_ms)
        (last,) = line.queue.reap("ocr")

    assert last.state is TaskState.DEAD
    assert line.inspector.dead_letters()[0]["code"] == "worker_crash"
    assert line.drain(1) == [innocent]
    line.assert_books_balance()


def test_a_lost_worker_is_charged_to_the_device_whose_task_it_was(line: Line) -> None:
    line.submit(RED, 5)
    line.submit(BLUE, 5)
    line.drain(2, cost_ms=100)
    line.claim()
    line.clock.advance(line.rules.lease_ms)
    line.queue.reap("ocr")

    assert all(task_id.startswith("bb") for task_id in line.drain(4, cost_ms=100))


@pytest.mark.feature("Q17")
def test_expire_ends_overdue_tasks_and_only_those(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=60_000))
    old = line.submit(RED, 100)
    clock.advance(60_000)
    young = line.submit(RED, 50)

    ended = line.queue.expire(limit=1000)

    assert {task.task_id for task in ended} == set(old)
    assert line.drain(50) == young
    line.assert_books_balance()


@pytest.mark.feature("Q17")
def test_expire_does_not_end_what_is_being_worked_on(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=1_000))
    line.submit(RED)
    claim = line.claim()
    clock.advance(2_000)

    assert line.queue.expire() == []

    line.queue.complete(claim.task_id, claim.token, cost_ms=2_000)
    assert line.client.zcard(line.queue.keys.expiry()) == 0


def test_expire_reaches_delayed_tasks(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=1_000))
    (task_id,) = line.submit(RED)
    line.queue.retry(task_id, line.claim().token, cost_ms=1, delay_ms=5_000)
    clock.advance(1_000)

    assert [task.task_id for task in line.queue.expire()] == [task_id]
    line.assert_books_balance()


def test_an_expired_backlog_frees_its_device_at_once(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=1_000, max_per_mac=3))
    line.submit(RED, 3)
    clock.advance(1_000)
    line.queue.expire()

    line.submit(RED, 3)

    line.assert_books_balance()


@pytest.mark.parametrize("state", ["queued", "delayed", "leased", "running"])
def test_cancel_ends_a_task_wherever_it_is(line: Line, state: str) -> None:
    (task_id,) = line.submit(RED)
    if state != "queued":
        token = line.claim().token
        if state == "running":
            line.queue.start(task_id, token)
        if state == "delayed":
            line.queue.retry(task_id, token, cost_ms=1, delay_ms=1_000)

    line.queue.cancel(task_id)

    found = line.inspector.find(task_id)
    assert found is not None
    assert found.state is TaskState.CANCELLED
    assert not line.queue.claim("ocr")
    line.assert_books_balance()


def test_cancel_refuses_what_has_ended_or_was_never_there(line: Line) -> None:
    (task_id,) = line.submit(RED)
    line.drain(1)

    with pytest.raises(TaskEnded):
        line.queue.cancel(task_id)
    with pytest.raises(TaskNotFound):
        line.queue.cancel("never-heard-of")


def test_nothing_is_left_without_an_owner_or_an_end_once_all_is_done(line: Line) -> None:
    line.submit(RED, 3)
    line.submit(BLUE, 3, lane="text")
    line.drain(3)
    line.drain(3, lane="text")

    lasting = {key.decode() for key in line.client.keys("*") if line.client.ttl(key) < 0}

    assert lasting == {"sensitive:lane:ocr", "sensitive:lane:text", "sensitive:global_pending"} | {
        key for key in lasting if key.startswith("sensitive:wake:")
    }


def test_retries_and_defers_are_no_lost_workers(line: Line) -> None:
    (task_id,) = line.submit(RED)
    for _ in range(3):
        line.queue.retry(task_id, line.claim().token, cost_ms=1, delay_ms=1)
        line.clock.advance(1)
        line.queue.promote()
    line.claim()
    line.clock.advance(line.rules.lease_ms)

    assert [ended.state for ended in line.queue.reap("ocr")] == [TaskState.QUEUED]


def test_a_clock_that_is_set_back_pays_no_device(line: Line) -> None:
    line.submit(RED, 50)
    line.submit(BLUE, 50)
    victim = line.claim()
    line.clock.advance(-3_600_000)
    line.queue.cancel(victim.task_id)
    line.clock.advance(3_600_000)

    served = line.drain(40, cost_ms=1_000)

    assert 15 <= sum(task_id.startswith("aa") for task_id in served) <= 25


@pytest.mark.feature("Q14")
def test_a_backoff_that_has_ended_stays_ended_when_the_clock_is_set_back(line: Line) -> None:
    line.submit(RED, 3)
    claim = line.claim()
    line.queue.defer(claim.task_id, claim.token, code="no_capable_worker")
    line.clock.advance(30_000)
    line.queue.resume()
    line.clock.advance(-2_000)

    assert len(line.drain(2, cost_ms=1)) == 2
    line.assert_books_balance()


@pytest.mark.feature("Q8")
def test_a_lease_from_before_the_clock_was_set_back_runs_out_in_time(line: Line) -> None:
    line.clock.advance(1_200_000)
    (task_id,) = line.submit(RED)
    line.claim()
    line.clock.advance(-1_200_000)
    assert line.queue.reap("ocr") == []

    line.clock.advance(line.rules.lease_ms)

    assert [ended.task_id for ended in line.queue.reap("ocr")] == [task_id]
