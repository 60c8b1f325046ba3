"""follow: what waits goes out of the line as the ledger says, unless it has moved; the books balance."""

import pytest
import redis

from pipeline.queue import Mark, TaskState
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line, ShardedLine


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def line(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Line:
    return ShardedLine(valkey, clock, request.param) if request.param else Line(valkey, clock)


def delayed(line: Line) -> tuple[str, int]:
    (task_id,) = line.submit(RED)
    token = line.claim().token
    line.queue.retry(task_id, token, cost_ms=1, delay_ms=1_000)
    return task_id, token


@pytest.mark.parametrize("ending", [TaskState.DONE, TaskState.CANCELLED, TaskState.DEAD])
def test_a_waiting_task_ends_as_in_the_ledger(line: Line, ending: TaskState) -> None:
    first, second = line.submit(RED, 2)

    assert line.queue.follow(first, 0, ending=ending)

    assert line.inspector.endings([first]) == [(ending, "ended_in_ledger")]
    assert line.inspector.audit()[0].ended[ending] == 1
    assert line.drain(1) == [second]
    line.assert_books_balance()


def test_a_delayed_task_ends_as_in_the_ledger_and_does_not_come_back(line: Line) -> None:
    task_id, token = delayed(line)

    assert line.queue.follow(task_id, token, ending=TaskState.DONE)

    line.clock.advance(1_000)
    assert line.queue.promote() == []
    line.assert_books_balance()


def test_a_task_that_the_ledger_does_not_have_is_forgotten_without_a_trace(line: Line) -> None:
    put_back, token = delayed(line)
    (waiting,) = line.submit(RED)
    (stays,) = line.submit(BLUE)

    assert line.queue.follow(waiting, 0, ending=None)
    assert line.queue.follow(put_back, token, ending=None)

    keys = [key.decode().partition("task:")[2] for key in line.client.keys("*task:*")]
    assert keys == [stays]
    assert line.inspector.audit()[0].accepted == 1
    line.assert_books_balance()


def test_a_task_that_has_moved_is_left_alone(line: Line) -> None:
    (task_id,) = line.submit(RED)
    claim = line.claim()
    before = line.snapshot()

    assert not line.queue.follow(task_id, 0, ending=TaskState.DONE)
    assert not line.queue.follow(task_id, claim.token, ending=TaskState.DONE)
    assert not line.queue.follow("nobody", 0, ending=None)
    assert line.snapshot() == before

    line.queue.hand_back(task_id, claim.token)
    assert not line.queue.follow(task_id, 0, ending=TaskState.DONE)
    assert line.queue.follow(task_id, claim.token, ending=TaskState.DONE)


def test_a_walk_sees_every_open_task_once_though_many_expire_in_the_same_millisecond(line: Line) -> None:
    ids = [task_id for number in range(4) for task_id in line.submit(f"{number:012x}", 7)]
    line.clock.advance(5)
    ids += line.submit(RED, 3)
    (gone,) = line.submit(BLUE)
    line.queue.cancel(gone)
    line.claim()

    seen, mark, pages = [], Mark(), 0
    while mark:
        tasks, mark = line.inspector.open_tasks(mark, limit=4)
        seen += tasks
        pages += 1

    assert sorted(task.task_id for task in seen) == sorted(ids)
    assert sorted(task.state.value for task in seen) == ["leased"] + ["queued"] * 30
    assert pages >= 8
