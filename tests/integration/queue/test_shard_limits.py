"""The limit of all tasks over shards: exact for one after the other, nearly so for many at once."""

import threading

import pytest
import redis

from pipeline.errors import QueueFull
from pipeline.queue import Rules, Standing, Task
from tests.support.clock import FakeClock
from tests.support.line import ShardedLine

SHARDS = 4


def one_device_in_each(line: ShardedLine) -> list[str]:
    return [line.mac_in(shard) for shard in range(SHARDS)]


def test_the_limit_of_all_tasks_holds_over_all_shards(valkey: redis.Redis, clock: FakeClock) -> None:
    line = ShardedLine(valkey, clock, SHARDS, Rules(max_total=10))
    for number, mac in enumerate(one_device_in_each(line)):
        line.submit(mac, 1 + 2 * (number == 0) + 2 * (number == 3) + (number == 2) * 2)
    assert sum(status.waiting for status in line.inspector.lanes()) == 10

    for mac in one_device_in_each(line):
        with pytest.raises(QueueFull):
            line.submit(mac)
        with pytest.raises(QueueFull):
            line.queue.admit(mac, "ocr")
    line.queue.restore([Standing(Task("accepted", "ocr", line.mac_in(1), 1))])
    assert sum(status.waiting for status in line.inspector.lanes()) == 11


def test_submitters_at_once_pass_the_limit_by_fewer_than_they_are(valkey: redis.Redis) -> None:
    line = ShardedLine(valkey, FakeClock(), SHARDS, Rules(max_total=40))
    threads, ready = 8, threading.Barrier(8)

    def submit(number: int) -> None:
        ready.wait()
        for count in range(20):
            mac = line.mac_in((number + count) % SHARDS, number)
            try:
                line.queue.enqueue(Task(f"{number}-{count}", "ocr", mac, 0))
            except QueueFull:
                return

    workers = [threading.Thread(target=submit, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert 40 <= sum(status.waiting for status in line.inspector.lanes()) < 40 + threads


def test_one_overloaded_device_closes_the_door_of_every_shard_when_asked_to(
    valkey: redis.Redis, clock: FakeClock
) -> None:
    line = ShardedLine(valkey, clock, SHARDS, Rules(max_per_mac=1, overload_scope="all"))
    line.submit(line.mac_in(0))

    with pytest.raises(QueueFull):
        line.submit(line.mac_in(1))
