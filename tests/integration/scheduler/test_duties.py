"""The duties, on a real queue and a real ledger: each brings back or ends what it should, in both books."""

import pytest
import redis

from models.base import Database
from models.devices import DevicePlace, Devices, SetRules
from models.ledger import DetectionRecord, Finished, Ledger, NewTask
from pipeline.queue import Counters, Roster, Rules, Task, TaskState
from pipeline.scheduler.expire import expire
from pipeline.scheduler.promote import promote
from pipeline.scheduler.reap import reap
from pipeline.scheduler.reconcile import rebuild_after_loss, reconcile
from pipeline.scheduler.resume import resume
from pipeline.scheduler.watermark import publish_watermark
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line


class House:
    """A queue and a ledger that begin together."""

    def __init__(self, client: redis.Redis, database: Database, clock: FakeClock) -> None:
        self.line = Line(client, clock, Rules(ttl_ms=600_000))
        self.queue, self.inspector, self.clock = self.line.queue, self.line.inspector, clock
        self.roster = Roster(client, self.queue.keys, clock)
        self.ledger = Ledger(database, clock)
        self.devices = Devices(database)
        self.counters = Counters(client, self.queue.keys, is_timed=False)

    def accept(self, task_id: str, mac: str = RED, *, is_enqueued: bool = True) -> None:
        now_ms = self.clock.now_ms()
        self.ledger.accept(NewTask(task_id, "ocr", mac, "local", "0" * 64, {}, 1, None, now_ms))
        if is_enqueued:
            self.queue.enqueue(Task(task_id, "ocr", mac, now_ms))

    def states(self, task_id: str) -> tuple[str, str]:
        queued, row = self.inspector.find(task_id), self.ledger.get(task_id)
        return queued.state.value if queued else "unknown", row.state if row else "unknown"

    def rebuild(self) -> None:
        rebuild_after_loss(self.queue, self.inspector, self.roster, self.ledger, self.devices)

    def reconcile(self) -> None:
        reconcile(self.queue, self.inspector, self.ledger, self.counters)


@pytest.fixture
def house(valkey: redis.Redis, database: Database, clock: FakeClock) -> House:
    return House(valkey, database, clock)


@pytest.mark.feature("Q21")
def test_an_emptied_queue_is_rebuilt_in_the_order_of_acceptance(house: House) -> None:
    house.rebuild()
    for task_id in ("c", "a", "b"):
        house.accept(task_id)
        house.clock.advance(10)
    house.line.client.flushall()

    house.rebuild()

    assert [house.line.claim().task_id for _ in range(3)] == ["c", "a", "b"]


@pytest.mark.feature("Q18", "Q21")
def test_an_emptied_queue_is_told_what_is_set_for_devices_before_their_tasks(house: House) -> None:
    house.accept("a", RED)
    house.accept("b", BLUE)
    wanted = SetRules(paused_lanes=frozenset({"ocr"}))
    house.devices.change(DevicePlace(RED, "local"), lambda _: wanted, lambda _: None)
    house.line.client.flushall()

    house.rebuild()

    assert house.line.claim().mac == BLUE
    assert house.queue.claim("ocr") == []


def test_a_queue_with_an_epoch_is_left_alone(house: House) -> None:
    house.rebuild()
    house.accept("a", is_enqueued=False)
    before = house.line.snapshot()

    house.rebuild()

    assert house.line.snapshot() == before


@pytest.mark.feature("S1")
def test_reconcile_puts_in_line_what_a_crash_left_out_once_it_is_old_enough(house: House) -> None:
    house.accept("a", is_enqueued=False)
    house.reconcile()
    assert house.states("a") == ("unknown", "queued")

    house.clock.advance(6_000)
    house.reconcile()

    assert house.states("a") == ("queued", "queued")


@pytest.mark.feature("S1")
def test_reconcile_closes_what_the_queue_has_ended(house: House) -> None:
    house.accept("a")
    token = house.line.claim().token
    house.queue.bury("a", token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=1)
    house.clock.advance(6_000)

    house.reconcile()

    row = house.ledger.get("a")
    assert row is not None
    assert (row.state, row.code) == ("dead", "engine_timeout")


def test_reconcile_never_touches_a_finished_row(house: House) -> None:
    house.accept("a")
    house.ledger.close("a", "cancelled", "cancelled", "by its owner")
    before = house.ledger.get("a")
    house.clock.advance(6_000)

    house.reconcile()

    assert house.ledger.get("a") == before


@pytest.mark.feature("S1")
def test_reap_tells_the_ledger_that_the_task_waits_again(house: House) -> None:
    house.accept("a")
    claim = house.line.claim()
    house.queue.start("a", claim.token)
    house.ledger.start("a", claim.token, 1)
    house.clock.advance(30_000)

    reap(house.queue, house.ledger, house.counters)

    assert house.states("a") == ("queued", "queued")


def test_reap_does_not_reopen_a_task_that_finished_but_could_not_say_so(house: House) -> None:
    house.accept("a")
    claim = house.line.claim()
    house.ledger.start("a", claim.token, 1)
    house.ledger.close("a", "cancelled", "cancelled", "")
    house.clock.advance(30_000)

    reap(house.queue, house.ledger, house.counters)

    assert house.states("a") == ("queued", "cancelled")


@pytest.mark.feature("Q9")
def test_reap_tells_the_ledger_of_a_task_that_cost_three_workers(house: House) -> None:
    house.accept("a")
    for _ in range(3):
        house.line.claim()
        house.clock.advance(30_000)
        reap(house.queue, house.ledger, house.counters)

    row = house.ledger.get("a")
    assert row is not None
    assert (row.state, row.code) == ("dead", "worker_crash")


@pytest.mark.feature("Q17")
def test_expire_tells_the_ledger(house: House) -> None:
    house.accept("a")
    house.clock.advance(600_000)

    expire(house.queue, house.ledger)

    assert house.states("a") == ("expired", "expired")


def finish_unheard(house: House, task_id: str) -> None:
    """Claim and finish a task whose worker dies before the queue hears of it."""
    claim = house.line.claim()
    assert claim.task_id == task_id
    house.queue.start(task_id, claim.token)
    house.ledger.start(task_id, claim.token, 1)
    house.ledger.finish(task_id, claim.token, Finished(None, DetectionRecord("x", "pass", []), [], 1))


@pytest.mark.feature("Q9")
def test_reap_follows_the_ledger_for_a_task_that_was_done_before_its_last_worker_was_lost(house: House) -> None:
    house.accept("a")
    for _ in range(2):
        house.line.claim()
        house.clock.advance(30_000)
        reap(house.queue, house.ledger, house.counters)
    finish_unheard(house, "a")
    house.clock.advance(30_000)

    reap(house.queue, house.ledger, house.counters)

    assert house.states("a") == ("done", "done")
    assert house.inspector.dead_letters() == []
    house.line.assert_books_balance()


@pytest.mark.feature("Q17")
def test_expire_follows_the_ledger_for_a_task_that_was_done(house: House) -> None:
    house.accept("a")
    finish_unheard(house, "a")
    house.clock.advance(30_000)
    reap(house.queue, house.ledger, house.counters)
    house.clock.advance(600_000)

    expire(house.queue, house.ledger)

    assert house.states("a") == ("done", "done")
    house.line.assert_books_balance()


@pytest.mark.feature("Q21")
def test_a_rebuilt_queue_keeps_delays_and_attempts(house: House) -> None:
    house.accept("a")
    token = house.line.claim().token
    house.ledger.start("a", token, 2)
    due_ms = house.clock.now_ms() + 20_000
    house.ledger.put_back("a", token, "delayed", "storage_unavailable", "down", due_ms)
    house.line.client.flushall()

    house.rebuild()

    found = house.inspector.find("a")
    assert found is not None
    assert (found.state.value, found.due_ms, found.attempts) == ("delayed", due_ms, 2)


@pytest.mark.feature("Q21")
def test_what_runs_while_the_queue_is_rebuilt_has_the_time_of_its_lease_to_finish(house: House) -> None:
    house.accept("a")
    claim = house.line.claim()
    house.ledger.start("a", claim.token, 1)
    house.clock.advance(700_000)
    house.line.client.flushall()

    house.rebuild()
    expire(house.queue, house.ledger)

    assert house.queue.claim("ocr") == []
    house.ledger.finish("a", claim.token, Finished(None, DetectionRecord("x", "pass", []), [], 1))
    house.clock.advance(30_000)
    expire(house.queue, house.ledger)
    assert house.states("a") == ("done", "done")


def test_promote_and_resume_bring_back_what_is_due(house: House) -> None:
    house.accept("a")
    house.queue.defer("a", house.line.claim().token, code="no_capable_worker")
    house.clock.advance(30_000)

    promote(house.queue)
    resume(house.queue)

    assert house.line.claim().task_id == "a"


@pytest.mark.feature("S8")
def test_the_watermark_says_what_is_pending_for_how_many_devices_and_who_works(house: House) -> None:
    house.accept("a", RED)
    house.accept("b", BLUE)
    house.roster.enter("host:1", {"hostname": "host", "pid": "1"}, ttl_ms=60_000)
    house.clock.advance(2_000)

    publish_watermark(house.inspector, house.roster, interval_ms=15_000)

    snapshot = house.inspector.watermark()
    assert snapshot is not None
    assert (snapshot["total_pending"], snapshot["mac_count"], snapshot["active_workers"]) == (2, 2, 1)
    assert snapshot["lanes"]["ocr"]["oldest_wait_ms"] == 2_000
    assert 0 < house.line.client.ttl(house.queue.keys.watermark()) <= 20
