"""Views over shards: all of them together look like one queue."""

import pytest
import redis

from pipeline.errors import TaskEnded, TaskNotFound
from pipeline.queue import Task, TaskState
from pipeline.queue.sharded_views import ShardedPages
from tests.support.clock import FakeClock
from tests.support.line import ShardedLine

SHARDS = 4


@pytest.fixture
def line(valkey: redis.Redis, clock: FakeClock) -> ShardedLine:
    return ShardedLine(valkey, clock, SHARDS)


def one_device_in_each(line: ShardedLine) -> list[str]:
    return [line.mac_in(shard) for shard in range(SHARDS)]


def test_views_show_all_shards_as_one(line: ShardedLine, valkey: redis.Redis) -> None:
    pages = ShardedPages(valkey, line.rules, SHARDS, line.clock)
    macs = one_device_in_each(line)
    ids = []
    for mac in reversed(macs):
        ids += line.submit(mac, 2)
        line.clock.advance(1_000)
    status = line.inspector.lanes()[0]
    assert (status.waiting, status.devices, status.oldest_wait_ms) == (8, 4, 4_000)

    first, *others = pages.listed(["ocr"])
    assert [place.mac for place in pages.listed(["ocr"], after=first, limit=2)] == [macs[2], macs[1]]
    assert pages.listed(["ocr"], site="local") == [first, *others]
    assert pages.waiting(macs[3], "ocr") == ids[:2]
    assert [device.line("ocr").waiting for device in pages.states(macs)] == [2] * 4
    assert {device.line("ocr").due_share for device in pages.states(macs)} == {0.25}
    claims = [line.claim() for _ in range(4)]
    assert {row.task_id for row in pages.in_flight("ocr")} == {claim.task_id for claim in claims}


def test_an_explanation_counts_the_slots_that_its_shard_gets(line: ShardedLine) -> None:
    line.submit(line.mac_in(0), 1)
    (behind,) = line.submit(line.mac_in(1), 3)[2:]

    explanation = line.inspector.explain(behind, slots={"ocr": 4, "text": 0})

    assert explanation is not None
    assert explanation.ahead_in_line == 2
    assert explanation.wait_ms is not None
    assert line.inspector.explain("nobody", slots={}) is None


def test_dead_letters_of_all_shards_come_newest_first(line: ShardedLine) -> None:
    buried = []
    for mac in one_device_in_each(line):
        line.submit(mac)
        claim = line.claim()
        line.clock.advance(1)
        line.queue.bury(
            claim.task_id, claim.token, ending=TaskState.FAILED, code="bad_image", message="no image", cost_ms=1
        )
        buried.append(claim.task_id)

    assert [letter["task_id"] for letter in line.inspector.dead_letters(limit=3)] == buried[:0:-1]
    line.inspector.ping()
    assert "maxmemory_policy" in line.inspector.server_facts()
    line.queue.replay(Task(buried[0], "ocr", line.mac_in(0), line.clock.now_ms()))
    assert line.claim().task_id == buried[0]


def test_tasks_are_found_and_cancelled_in_any_shard(line: ShardedLine) -> None:
    for mac in one_device_in_each(line):
        (task_id,) = line.submit(mac)
        found = line.inspector.find(task_id)
        assert found is not None
        assert (found.mac, found.state, found.position) == (mac, TaskState.QUEUED, 1)
        line.queue.cancel(task_id)
        with pytest.raises(TaskEnded):
            line.queue.cancel(task_id)
    with pytest.raises(TaskNotFound):
        line.queue.cancel("nobody")
    assert line.inspector.find("nobody") is None
    line.assert_books_balance()
