"""Sweep: the queue follows the ledger, page by page, and touches nothing that is held or has moved."""

from collections.abc import Sequence

import pytest
import redis

from models.base import Database
from models.endings import endings_of
from models.ledger import Ledger, NewTask
from pipeline.errors import DatabaseUnavailable
from pipeline.queue import FairQueue, Inspector, Rules, Task, TaskState
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.scheduler import sweep
from pipeline.scheduler.sweep import Sweep
from tests.support.clock import FakeClock
from tests.support.line import RED


class House:
    """A queue, plain or in shards, a ledger, and the sweep between them, whose questions are counted."""

    def __init__(self, client: redis.Redis, database: Database, clock: FakeClock, shards: int) -> None:
        rules = Rules()
        self.clock, self.database = clock, database
        self.ledger = Ledger(database, clock)
        self.queue = ShardedQueue(client, rules, shards, clock) if shards else FairQueue(client, rules, clock)
        self.inspector = ShardedInspector(client, rules, shards, clock) if shards else Inspector(client, rules, clock)
        self.asked: list[int] = []
        self.sweep = Sweep(self.queue, self.inspector, self.endings_of)

    def endings_of(self, task_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        self.asked.append(len(task_ids))
        return endings_of(self.database, task_ids)

    def accept(self, task_id: str, mac: str = RED) -> None:
        now_ms = self.clock.now_ms()
        self.ledger.accept(NewTask(task_id, "ocr", mac, "local", "0" * 64, {}, 1, None, now_ms))
        self.queue.enqueue(Task(task_id, "ocr", mac, now_ms))

    def states(self, *task_ids: str) -> list[TaskState | None]:
        return [ending and ending[0] for ending in self.inspector.endings(task_ids)]


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def house(request: pytest.FixtureRequest, valkey: redis.Redis, database: Database, clock: FakeClock) -> House:
    return House(valkey, database, clock, request.param)


@pytest.mark.feature("S1")
def test_what_the_ledger_has_ended_or_does_not_have_leaves_the_line(house: House) -> None:
    for task_id in ("cancelled", "open"):
        house.accept(task_id)
    house.queue.enqueue(Task("withdrawn", "ocr", RED, house.clock.now_ms()))
    house.ledger.close("cancelled", "cancelled", "cancelled", "by a client")
    row = house.ledger.get("cancelled")

    house.sweep.run()

    assert house.states("cancelled", "open", "withdrawn") == [TaskState.CANCELLED, TaskState.QUEUED, None]
    assert house.ledger.get("cancelled") == row
    assert all(books.balances for books in house.inspector.audit())


def test_a_task_that_somebody_holds_is_left_to_its_holder(house: House) -> None:
    house.accept("held")
    (claim,) = house.queue.claim("ocr")
    house.ledger.close("held", "cancelled", "cancelled", "by a client")

    house.sweep.run()

    assert house.states("held") == [TaskState.LEASED]
    house.queue.complete("held", claim.token, cost_ms=1)


def test_a_task_that_moves_while_its_page_is_compared_is_left_alone(house: House) -> None:
    house.accept("t")
    house.ledger.close("t", "cancelled", "cancelled", "by a client")
    house.sweep = Sweep(
        house.queue, house.inspector, lambda ids: house.queue.claim("ocr") and endings_of(house.database, ids)
    )

    house.sweep.run()

    assert house.states("t") == [TaskState.LEASED]


@pytest.mark.feature("S1")
def test_a_round_is_bounded_and_the_next_goes_on_where_it_stopped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "_PAGE", 10)
    monkeypatch.setattr(sweep, "_PAGES_A_ROUND", 2)
    for number in range(50):
        house.accept(f"t{number:02d}", f"{number % 7:012x}")
        house.ledger.close(f"t{number:02d}", "cancelled", "cancelled", "by a client")
    rounds = 0
    while any(status.waiting for status in house.inspector.lanes()):
        before = len(house.asked)
        house.sweep.run()
        rounds += 1
        assert len(house.asked) - before <= 2

    assert rounds >= 3
    assert max(house.asked) <= 10


def test_a_page_that_could_not_be_compared_is_walked_again(house: House) -> None:
    house.accept("t")
    house.ledger.close("t", "cancelled", "cancelled", "by a client")

    def down(task_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        raise DatabaseUnavailable("down")

    walk = Sweep(house.queue, house.inspector, down)
    with pytest.raises(DatabaseUnavailable):
        walk.run()
    walk._endings_of = house.endings_of
    walk.run()

    assert house.states("t") == [TaskState.CANCELLED]
