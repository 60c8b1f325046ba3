"""A walk over the open tasks sees each of them once, though the queue works on."""

import pytest
import redis

from pipeline.queue import Mark
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line, ShardedLine


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def line(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Line:
    return ShardedLine(valkey, clock, request.param) if request.param else Line(valkey, clock)


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
