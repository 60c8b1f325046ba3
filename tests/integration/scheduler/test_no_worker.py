"""The no-worker duty: each strategy does what it says, charges nothing, loses nothing, ends when somebody is back."""

from typing import Any

import pytest
import redis

from models.base import Database
from models.ledger import Ledger, NewTask
from pipeline.queue import FairQueue, Inspector, Needs, Roster, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.queue.shards import rules_of_shards
from pipeline.queue.types import DeviceRules
from pipeline.scheduler.no_worker import NoWorker
from pipeline.scheduler.promote import promote
from pipeline.scheduler.resume import resume
from tests.support.clock import FakeClock
from tests.support.line import BLUE, GREEN, RED
from tests.support.processes import wait_until

GRACE_MS = 30_000


class House:
    """A queue, a ledger and simulated workers, where images need a GPU."""

    def __init__(self, client: redis.Redis, database: Database, clock: FakeClock, shards: int) -> None:
        rules = Rules(ttl_ms=86_400_000)
        self.client, self.clock = client, clock
        self.queue = ShardedQueue(client, rules, shards, clock) if shards else FairQueue(client, rules, clock)
        self.inspector = ShardedInspector(client, rules, shards, clock) if shards else Inspector(client, rules, clock)
        self.ledger = Ledger(database, clock)
        first = rules_of_shards(rules, shards)[0] if shards else rules
        self.roster = Roster(client, Keys(first.prefix), clock, needs=Needs(gpu=frozenset({"ocr"})))

    def accept(self, *task_ids: str, mac: str = RED, lane: Any = "ocr") -> None:
        for task_id in task_ids:
            now_ms = self.clock.now_ms()
            self.ledger.accept(NewTask(task_id, lane, mac, "local", "0" * 64, {}, 1, None, now_ms))
            self.queue.enqueue(Task(task_id, lane, mac, now_ms))

    def worker(self, name: str, *, gpu: bool, ttl_ms: int = 60_000, **fields: str) -> None:
        entry = {"hostname": name, "pid": "1", "queues": "ocr", "gpu_available": str(int(gpu)), **fields}
        self.roster.enter(f"{name}:1", {"effective_concurrency": "1", **entry}, ttl_ms=ttl_ms)

    def judge(self, strategy: Any = "defer", *, ms: int = 0) -> None:
        """Let `ms` pass and do one round, by a duty that has just been started."""
        self.clock.advance(ms)
        promote(self.queue)
        resume(self.queue)
        NoWorker(self.queue, self.inspector, self.roster, self.ledger, strategy=strategy, grace_ms=GRACE_MS).run()

    def states(self, *task_ids: str) -> list[tuple[str, str]]:
        found = [(self.inspector.find(task_id), self.ledger.get(task_id)) for task_id in task_ids]
        return [(queued.state.value, row.state) for queued, row in found if queued and row]

    def assert_books_balance(self) -> None:
        for books in self.inspector.audit():
            assert books.balances, books


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def house(request: pytest.FixtureRequest, valkey: redis.Redis, database: Database, clock: FakeClock) -> House:
    return House(valkey, database, clock, request.param)


def wait_for_absence(house: House, strategy: Any = "defer") -> None:
    """Let the grace pass, as the duty sees it."""
    house.judge(strategy)
    house.judge(strategy, ms=GRACE_MS)


@pytest.mark.feature("S5")
def test_defer_puts_off_the_head_of_each_waiting_device_once_the_grace_is_over(house: House) -> None:
    house.accept("r1", "r2", mac=RED)
    house.accept("b1", mac=BLUE)
    house.judge()
    house.judge(ms=GRACE_MS - 1)
    assert house.states("r1", "r2", "b1") == [("queued", "queued")] * 3

    house.judge(ms=1)

    assert house.states("r1", "r2", "b1") == [("delayed", "delayed"), ("queued", "queued"), ("delayed", "delayed")]
    assert house.queue.claim("ocr") == []
    row, task = house.ledger.get("r1"), house.inspector.find("r1")
    assert row is not None
    assert task is not None
    assert (row.code, row.attempts, task.attempts, task.defers) == ("no_capable_worker", 0, 0, 1)
    house.assert_books_balance()


@pytest.mark.feature("S5")
def test_a_task_is_deferred_for_30_60_120_240_and_480_s_and_then_dead_in_both_books(house: House) -> None:
    house.accept("t")
    wait_for_absence(house)
    for backoff_s in (30, 60, 120, 240, 480):
        house.judge(ms=backoff_s * 1000 - 1)
        assert house.states("t") == [("delayed", "delayed")]
        house.judge(ms=1)

    assert house.states("t") == [("dead", "dead")]
    letter = house.inspector.dead_letters()[0]
    assert (letter["code"], letter["attempts"], letter["defers"]) == ("no_capable_worker", 0, 6)
    house.assert_books_balance()


@pytest.mark.feature("S5")
def test_reject_makes_all_that_waits_a_dead_letter_at_once_with_the_reason(house: House) -> None:
    house.accept("r1", "r2", mac=RED)
    house.accept("b1", mac=BLUE)

    wait_for_absence(house, "reject")

    assert house.states("r1", "r2", "b1") == [("dead", "dead")] * 3
    assert {(letter["code"], letter["message"]) for letter in house.inspector.dead_letters()} == {
        ("no_capable_worker", "no live worker can do the work of lane ocr")
    }
    row = house.ledger.get("b1")
    assert row is not None
    assert (row.code, row.attempts) == ("no_capable_worker", 0)
    house.assert_books_balance()


@pytest.mark.feature("S5")
def test_cpu_sends_images_to_workers_without_a_gpu_until_one_with_a_gpu_is_back(house: House) -> None:
    house.worker("cpu", gpu=False)
    house.accept("t")
    house.judge("cpu")
    assert not house.roster.is_downgraded("ocr")
    assert house.roster.slots()["ocr"] == 0

    house.judge("cpu", ms=GRACE_MS)
    assert house.roster.is_downgraded("ocr")
    assert house.roster.slots()["ocr"] == 1
    assert house.states("t") == [("queued", "queued")]

    house.worker("gpu", gpu=True)
    house.judge("cpu")
    assert not house.roster.is_downgraded("ocr")
    house.assert_books_balance()


def test_a_downgrade_outlives_an_empty_lane_so_that_the_next_image_need_not_wait_for_the_grace(house: House) -> None:
    house.worker("cpu", gpu=False)
    house.accept("t")
    wait_for_absence(house, "cpu")
    (claim,) = house.queue.claim("ocr")
    house.queue.complete("t", claim.token, cost_ms=1)

    house.judge("cpu", ms=1_000)

    assert house.roster.is_downgraded("ocr")


@pytest.mark.feature("S5")
def test_cpu_defers_when_no_worker_without_a_gpu_is_alive_either(house: House) -> None:
    house.accept("t")

    wait_for_absence(house, "cpu")

    assert house.states("t") == [("delayed", "delayed")]
    assert not house.roster.is_downgraded("ocr")


@pytest.mark.feature("S5")
def test_a_lane_that_needs_no_gpu_is_served_by_any_worker_and_deferred_without_one(house: House) -> None:
    house.accept("t", lane="text")
    house.worker("texts", gpu=False, queues="text")
    wait_for_absence(house)
    assert house.states("t") == [("queued", "queued")]

    house.roster.leave("texts:1")
    wait_for_absence(house)
    assert house.states("t") == [("delayed", "delayed")]


def test_a_worker_whose_host_is_over_a_watermark_is_busy_and_not_missing(house: House) -> None:
    house.accept("t")
    house.worker("gpu", gpu=True, state="held")

    wait_for_absence(house, "reject")

    assert house.states("t") == [("queued", "queued")]


@pytest.mark.feature("S5")
def test_the_last_gpu_worker_dies_under_load_and_comes_back_and_nothing_is_lost(house: House) -> None:
    house.worker("gpu", gpu=True, ttl_ms=1)
    macs = (RED, BLUE, GREEN)
    for mac in macs:
        house.accept(*(f"{mac[:2]}{number}" for number in range(5)), mac=mac)
    (held,) = house.queue.claim("ocr")
    wait_until(lambda: not house.roster.workers())

    wait_for_absence(house)
    (status, *_) = house.inspector.lanes()
    assert (status.waiting, status.delayed, status.leased) == (11, 3, 1)

    house.worker("gpu", gpu=True)
    house.judge()
    house.queue.complete(held.task_id, held.token, cost_ms=1)
    house.clock.advance(GRACE_MS)
    promote(house.queue)
    resume(house.queue)
    served = [held.task_id]
    while claims := house.queue.claim("ocr"):
        served += [claim.task_id for claim in claims]
        for claim in claims:
            assert house.queue.start(claim.task_id, claim.token).attempt == 1
            house.queue.complete(claim.task_id, claim.token, cost_ms=1)
    assert sorted(served) == sorted(f"{mac[:2]}{number}" for mac in macs for number in range(5))
    for mac in macs:
        assert [task_id for task_id in served if task_id[:2] == mac[:2]] == [f"{mac[:2]}{n}" for n in range(5)]
    house.assert_books_balance()


@pytest.mark.feature("S5")
def test_since_when_nobody_is_there_survives_a_restart_and_is_shared(house: House) -> None:
    house.accept("t")
    house.judge()
    house.clock.advance(GRACE_MS - 1)
    assert house.roster.note_missing("ocr", house.clock.now_ms(), ttl_ms=60_000) == house.clock.now_ms() - GRACE_MS + 1

    house.judge(ms=1)

    assert house.states("t") == [("delayed", "delayed")]


def test_an_absence_ends_with_the_work_so_that_a_worker_may_be_started_with_the_next_task(house: House) -> None:
    house.accept("t")
    house.judge()
    house.queue.cancel("t")
    house.judge(ms=GRACE_MS)
    house.accept("u")

    house.judge()

    assert house.states("u") == [("queued", "queued")]
    assert not house.roster.end_missing("text")


def test_deferring_charges_neither_the_share_nor_the_rate_of_a_device(house: House) -> None:
    house.queue.set_device(RED, DeviceRules(rate_per_minute=1))
    house.accept("t", mac=RED)
    wait_for_absence(house)
    house.clock.advance(30_000)
    promote(house.queue)
    resume(house.queue)

    assert [claim.task_id for claim in house.queue.claim("ocr")] == ["t"]
    (meta,) = house.client.keys("*mac:meta:" + RED)
    assert float(house.client.hget(meta, "tag:ocr") or 0) <= 0


def test_a_task_that_ended_in_the_ledger_meanwhile_stays_as_it_is_there(house: House) -> None:
    house.accept("t")
    house.ledger.close("t", "cancelled", "cancelled", "by a client")

    wait_for_absence(house, "reject")

    assert house.states("t") == [("cancelled", "cancelled")]
