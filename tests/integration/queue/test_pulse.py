"""The pulse: counts of lanes and devices, from one server or shards, at a cost that does not grow."""

from dataclasses import replace

import pytest
import redis

from pipeline.queue import FairQueue, Pulse, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.queue.pulse import DeviceCounts
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.shards import rules_of_shards
from pipeline.queue.types import DeviceRules
from pipeline.simulation.live.statistics import ServerStatistics
from tests.support.clock import FakeClock
from tests.support.line import BLUE, GREEN, RED

RULES = Rules(max_per_mac=3)


class Heart:
    """A queue and its pulse."""

    def __init__(self, client: redis.Redis, clock: FakeClock, shards: int) -> None:
        self.clock = clock
        self.queue = ShardedQueue(client, RULES, shards, clock) if shards else FairQueue(client, RULES, clock)
        rules = rules_of_shards(RULES, shards) if shards else [RULES]
        self.pulse = Pulse(client, [Keys(each.prefix) for each in rules])
        self.number = 0

    def submit(self, mac: str, count: int = 1) -> None:
        for _ in range(count):
            self.number += 1
            self.queue.enqueue(Task(f"t{self.number}", "ocr", mac, self.clock.now_ms()))


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def heart(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Heart:
    return Heart(valkey, clock, request.param)


@pytest.mark.feature("H5")
def test_a_lane_is_counted_from_acceptance_to_end(heart: Heart) -> None:
    for mac in (RED, BLUE, GREEN):
        heart.submit(mac, 2)
    (claim,) = heart.queue.claim("ocr")
    heart.queue.complete(claim.task_id, claim.token, cost_ms=5)
    heart.queue.claim("ocr")

    lane = heart.pulse.lanes()["ocr"]

    assert (lane.waiting, lane.delayed, lane.leased, lane.accepted, lane.ended) == (4, 0, 1, 6, 1)
    assert lane.is_servable
    assert not heart.pulse.lanes()["text"].is_servable


@pytest.mark.feature("H5")
def test_its_mark_changes_with_each_claim_and_with_nothing_else(heart: Heart) -> None:
    heart.submit(RED, 2)
    before = heart.pulse.lanes()["ocr"].mark
    heart.submit(BLUE)
    heart.clock.advance(60_000)
    assert heart.pulse.lanes()["ocr"].mark == before

    heart.queue.claim("ocr")

    assert heart.pulse.lanes()["ocr"].mark != before


@pytest.mark.feature("H5")
def test_devices_that_are_paused_full_or_back_off_are_counted(heart: Heart) -> None:
    for mac in (RED, BLUE):
        heart.queue.set_device(mac, DeviceRules(is_paused=True))
        heart.queue.set_device(mac, DeviceRules(is_paused=True, weight=2))
    heart.queue.set_device(BLUE, DeviceRules())
    heart.submit(GREEN, 3)
    (claim,) = heart.queue.claim("ocr")
    heart.queue.start(claim.task_id, claim.token)
    heart.queue.defer(claim.task_id, claim.token, code="no_capable_worker")

    assert heart.pulse.devices() == DeviceCounts(paused=1, backing_off=1, full=1, pending=3)
    assert not heart.pulse.lanes()["ocr"].is_servable


@pytest.mark.feature("H5")
def test_it_takes_as_many_commands_with_many_devices_as_with_none(valkey: redis.Redis, clock: FakeClock) -> None:
    heart = Heart(valkey, clock, 0)
    statistics = ServerStatistics(valkey)

    def cost() -> dict[str, int]:
        return dict(statistics.commands_of(lambda: (heart.pulse.lanes(), heart.pulse.devices())))

    none = cost()
    for number in range(500):
        heart.submit(f"{number:012x}")

    assert cost() == none
    assert replace(heart.pulse.lanes()["ocr"], mark="").waiting == 500
