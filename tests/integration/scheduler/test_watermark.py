"""The watermark: what an operator and an autoscaler are told, from the queue and the registry as they are."""

from typing import Any

import pytest
import redis

from pipeline.queue import FairQueue, Inspector, Needs, Roster, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.queue.shards import rules_of_shards
from pipeline.queue.types import DeviceRules
from pipeline.scheduler.scale import ScaleRules
from pipeline.scheduler.watermark import publish_watermark
from tests.support.clock import FakeClock
from tests.support.line import BLUE, GREEN, RED

RULES = Rules(starved_ms=30_000, max_total=10_000, max_per_mac=10_000)


class Tower:
    """A queue and simulated workers, looked at every 15 s."""

    def __init__(self, client: redis.Redis, clock: FakeClock, shards: int) -> None:
        self.client, self.clock = client, clock
        self.queue = ShardedQueue(client, RULES, shards, clock) if shards else FairQueue(client, RULES, clock)
        self.inspector = ShardedInspector(client, RULES, shards, clock) if shards else Inspector(client, RULES, clock)
        first = rules_of_shards(RULES, shards)[0] if shards else RULES
        self.roster = Roster(client, Keys(first.prefix), clock, needs=Needs(gpu=frozenset({"ocr"})))

    def submit(self, count: int, mac: str = RED) -> None:
        now_ms = self.clock.now_ms()
        for number in range(count):
            self.queue.enqueue(Task(f"{mac}-{now_ms}-{number}", "ocr", mac, now_ms))

    def worker(self, name: str, **fields: str) -> None:
        entry = {"hostname": name, "pid": "1", "queues": "ocr", "gpu_available": "1", "effective_concurrency": "1"}
        self.roster.enter(f"{name}:1", {**entry, **fields}, ttl_ms=60_000)

    def look(self, **rules: int) -> dict[str, Any]:
        publish_watermark(self.inspector, self.roster, interval_ms=15_000, scaling=ScaleRules(**rules))
        snapshot = self.inspector.watermark()
        assert snapshot is not None
        return dict(snapshot["lanes"]["ocr"])


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def tower(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Tower:
    return Tower(valkey, clock, request.param)


@pytest.mark.feature("S8")
def test_a_lane_is_told_with_its_workers_slots_and_what_holds_them(tower: Tower) -> None:
    tower.worker("busy", active_tasks="1")
    tower.worker("hot", state="held", effective_concurrency="4")
    tower.worker("cpu", gpu_available="0")
    tower.worker("texts", queues="text")
    tower.submit(3)
    tower.queue.claim("ocr")

    lane = tower.look()

    assert (lane["waiting"], lane["leased"], lane["capable_workers"], lane["workers"]) == (2, 1, 2, 2)
    assert lane["slots"] == {"effective": 1, "active": 1, "idle": 0}
    assert (lane["held_hosts"], lane["busy_workers"], lane["is_downgraded"]) == (["hot"], 1, False)


@pytest.mark.feature("S8")
def test_a_downgrade_counts_those_that_serve_meanwhile(tower: Tower) -> None:
    tower.worker("cpu", gpu_available="0")
    tower.roster.begin_downgrade("ocr", ttl_ms=60_000)

    lane = tower.look()

    assert (lane["is_downgraded"], lane["capable_workers"], lane["workers"]) == (True, 0, 1)
    assert lane["slots"]["effective"] == 1


@pytest.mark.feature("S8")
def test_devices_starve_that_could_be_served_and_are_not(tower: Tower) -> None:
    for mac in (RED, BLUE, GREEN):
        tower.submit(2, mac)
    tower.clock.advance(30_000)
    tower.submit(2, "dd0000000004")
    tower.queue.set_device(GREEN, DeviceRules(is_paused=True))

    assert tower.look()["starved_devices"] == 2


@pytest.mark.feature("S8")
def test_what_a_task_costs_and_how_fast_slots_work_is_measured_from_snapshot_to_snapshot(tower: Tower) -> None:
    tower.submit(200)
    before = tower.look()
    assert (before["cost_ms"], before["pace"]) == (100, 1.0)  # nothing has finished: the first guess of the queue
    for _ in range(8):
        tower.worker("a", active_tasks="1")
        (claim,) = tower.queue.claim("ocr")
        for _ in range(15):
            tower.clock.advance(1_000)
            tower.queue.complete(claim.task_id, claim.token, cost_ms=1_000)
            (claim,) = tower.queue.claim("ocr")
        lane = tower.look(down_after_ms=0)
        tower.queue.hand_back(claim.task_id, claim.token)

    assert lane["cost_ms"] == pytest.approx(1_000, rel=0.01)
    assert lane["pace"] == pytest.approx(1.0)
    assert lane["expected_wait_ms"] == pytest.approx(80_000, rel=0.02)
    assert lane["drain_per_s"] == pytest.approx(1, rel=0.2)
    assert lane["desired_workers"] == 2


@pytest.mark.feature("S8")
def test_a_new_scheduler_goes_on_from_the_last_snapshot(tower: Tower) -> None:
    tower.submit(3_100)
    assert tower.look(max_workers=5)["desired_workers"] == 5
    for claim in iter(lambda: tower.queue.claim("ocr", limit=100), []):
        for each in claim:
            tower.queue.complete(each.task_id, each.token, cost_ms=1)
    asked = []
    for _ in range(5):
        tower.clock.advance(15_000)
        asked.append(tower.look(max_workers=5, down_after_ms=30_000)["desired_workers"])

    assert asked == [5, 5, 4, 3, 2]


def test_what_waits_for_a_paused_device_asks_for_no_worker(tower: Tower) -> None:
    tower.worker("a")
    tower.submit(3_100)
    tower.queue.set_device(RED, DeviceRules(is_paused=True))
    tower.look(max_workers=1)
    tower.clock.advance(15_000)

    assert tower.look(max_workers=50)["desired_workers"] == 1
