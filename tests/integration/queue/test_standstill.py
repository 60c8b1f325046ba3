"""A lane stands still when somebody could be served and somebody could serve, and nothing is claimed; never else."""

import pytest
import redis

from pipeline.queue import FairQueue, Needs, Pulse, Roster, Rules, Standstill, Task
from pipeline.queue.keys import Keys
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.shards import rules_of_shards
from pipeline.queue.types import DeviceRules
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED

RULES = Rules()


class Still:
    """A queue with workers, at which several processes look."""

    def __init__(self, client: redis.Redis, clock: FakeClock, shards: int) -> None:
        self.client, self.clock = client, clock
        self.queue = ShardedQueue(client, RULES, shards, clock) if shards else FairQueue(client, RULES, clock)
        keys = [Keys(each.prefix) for each in (rules_of_shards(RULES, shards) if shards else [RULES])]
        self.roster = Roster(client, keys[0], clock, needs=Needs())
        self.lookers = [Standstill(client, keys[0], Pulse(client, keys), self.roster, clock) for _ in range(2)]
        self.number = 0

    def submit(self, mac: str = RED) -> None:
        self.number += 1
        self.queue.enqueue(Task(f"t{self.number}", "ocr", mac, self.clock.now_ms()))

    def worker(self, name: str = "a", **fields: str) -> None:
        entry = {"hostname": name, "pid": "1", "queues": "ocr", "state": "working", "effective_concurrency": "1"}
        self.roster.enter(f"{name}:1", {**entry, **fields}, ttl_ms=600_000)

    def after(self, ms: int, looker: int = 0) -> int:
        """Let time pass, and look."""
        self.clock.advance(ms)
        return self.lookers[looker].look()["ocr"]


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def still(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Still:
    return Still(valkey, clock, request.param)


@pytest.mark.feature("H5")
def test_what_one_process_has_seen_another_knows(still: Still) -> None:
    still.worker()
    still.submit()

    assert still.after(0, looker=0) == 0
    assert still.after(5_000, looker=1) == 5_000
    assert still.after(30_000, looker=0) == 35_000


@pytest.mark.feature("H5")
def test_a_claim_begins_it_anew(still: Still) -> None:
    still.worker()
    still.submit()
    still.submit()
    still.after(0)
    still.after(20_000)
    (claim,) = still.queue.claim("ocr")
    assert still.after(20_000) == 0, "something runs"
    still.queue.complete(claim.task_id, claim.token, cost_ms=1)

    assert still.after(0) == 0
    assert still.after(7_000) == 7_000


def test_a_claim_that_nobody_saw_begins_it_anew(still: Still) -> None:
    still.worker()
    still.submit()
    still.submit()
    still.after(0)
    still.clock.advance(40_000)
    (claim,) = still.queue.claim("ocr")
    still.queue.complete(claim.task_id, claim.token, cost_ms=1)

    assert still.after(0) == 0


@pytest.mark.feature("H5")
def test_paused_devices_wait_without_a_standstill(still: Still) -> None:
    still.worker()
    for mac in (RED, BLUE):
        still.submit(mac)
        still.queue.set_device(mac, DeviceRules(is_paused=True))
    still.after(0)

    assert still.after(60_000) == 0


@pytest.mark.feature("H5")
def test_devices_in_a_backoff_or_at_their_cap_wait_without_a_standstill(still: Still) -> None:
    still.worker()
    still.submit()
    (claim,) = still.queue.claim("ocr")
    still.queue.start(claim.task_id, claim.token)
    still.queue.defer(claim.task_id, claim.token, code="no_capable_worker")
    still.submit()
    still.after(0)
    assert still.after(29_000) == 0

    still.clock.advance(30_000)
    still.queue.resume()

    assert still.after(0) == 0, "it can be served only now"
    assert still.after(4_000) == 4_000


@pytest.mark.feature("H5")
@pytest.mark.parametrize(
    "told",
    [
        {"state": "held", "holds": "CPU over its watermark"},
        {"queues": "ocr,text", "holds": "ocr: GPU memory over its watermark"},
        {"state": "held", "holds": "stopping"},
    ],
)
def test_workers_that_say_why_they_claim_nothing_make_no_standstill(still: Still, told: dict[str, str]) -> None:
    still.worker(**told)
    still.submit()
    still.after(0)
    assert still.after(60_000) == 0

    still.worker()

    assert still.after(0) == 0, "it is released only now"
    assert still.after(8_000) == 8_000


def test_one_worker_that_could_claim_is_enough(still: Still) -> None:
    still.worker("a", state="held", holds="CPU over its watermark")
    still.worker("b")
    still.submit()
    still.after(0)

    assert still.after(9_000) == 9_000


def test_without_a_worker_or_a_task_nothing_stands_still(still: Still) -> None:
    still.submit()
    still.after(0)
    assert still.after(60_000) == 0
    (claim,) = still.queue.claim("ocr")
    still.queue.complete(claim.task_id, claim.token, cost_ms=1)
    still.worker()
    still.after(0)

    assert still.after(60_000) == 0
    assert not [key for key in still.client.keys("*") if b"standstill" in key]


def test_the_note_goes_away_by_itself(still: Still) -> None:
    still.worker()
    still.submit()
    still.after(0)
    (key,) = [key for key in still.client.keys("*") if b"standstill:ocr" in key]

    assert 0 < still.client.pttl(key) <= 120_000


def test_a_note_that_no_fairlane_wrote_is_replaced(still: Still) -> None:
    still.worker()
    still.submit()
    still.after(0)
    (key,) = [key for key in still.client.keys("*") if b"standstill:ocr" in key]
    still.client.set(key, b"\xff@nonsense")

    assert still.after(0) == 0
    assert still.after(3_000) == 3_000
