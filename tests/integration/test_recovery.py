"""recover: everything accepted is in line again, in its order, with few round trips, wherever the rows lie."""

import pytest
import redis

from models.base import Database
from models.ledger import Ledger, NewTask
from pipeline.queue import FairQueue, Inspector, Rules, Task, TaskState
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.recovery import Recovered, recover
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED

TASKS = 600


class Shop:
    """A queue, plain or in shards, and a ledger with open tasks of many devices."""

    def __init__(self, client: redis.Redis, database: Database, clock: FakeClock, shards: int) -> None:
        rules = Rules()
        self.client, self.clock = client, clock
        self.ledger = Ledger(database, clock)
        self.queue = ShardedQueue(client, rules, shards, clock) if shards else FairQueue(client, rules, clock)
        self.inspector = ShardedInspector(client, rules, shards, clock) if shards else Inspector(client, rules, clock)

    def accept(self, task_id: str, mac: str) -> None:
        self.ledger.accept(NewTask(task_id, "ocr", mac, "local", "0" * 64, {}, 1, None, self.clock.now_ms()))

    def recover(self) -> Recovered:
        return recover(self.queue, self.inspector, self.ledger)

    def reads(self) -> int:
        return int(self.client.info("stats")["total_reads_processed"])


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def shop(request: pytest.FixtureRequest, valkey: redis.Redis, database: Database, clock: FakeClock) -> Shop:
    return Shop(valkey, database, clock, request.param)


@pytest.mark.feature("Q21")
def test_all_is_in_line_again_with_few_round_trips(shop: Shop) -> None:
    for number in range(TASKS):
        shop.accept(f"t{number:05d}", f"{number % 50:012x}")
    before = shop.reads()

    assert shop.recover() == Recovered(TASKS, TASKS, 0)

    # A page of 500 is asked for and put in line in a handful of messages, some of which arrive in parts: far from one
    # for each task.
    assert shop.reads() - before < TASKS / 4
    assert shop.inspector.lanes()[0].waiting == TASKS
    assert all(books.balances for books in shop.inspector.audit())
    assert shop.recover() == Recovered(TASKS, 0, 0)


def test_a_recovery_tells_how_far_it_is(shop: Shop) -> None:
    for number in range(TASKS):
        shop.accept(f"t{number:05d}", RED)
    told: list[int] = []

    recover(shop.queue, shop.inspector, shop.ledger, tell=told.append)

    assert told == [500, TASKS]


def test_a_device_keeps_its_order(shop: Shop) -> None:
    for task_id in ("c", "a", "b"):
        shop.accept(task_id, RED)
        shop.clock.advance(10)

    shop.recover()

    assert [shop.queue.claim("ocr")[0].task_id for _ in range(3)] == ["c", "a", "b"]


def test_what_is_known_stays_as_it_is_and_what_ended_is_closed(shop: Shop) -> None:
    for task_id, mac in (("waiting", RED), ("dead", BLUE), ("missing", RED)):
        shop.accept(task_id, mac)
    shop.queue.enqueue(Task("dead", "ocr", BLUE, shop.clock.now_ms()))
    (claim,) = shop.queue.claim("ocr")
    shop.queue.bury("dead", claim.token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=1)
    shop.queue.enqueue(Task("waiting", "ocr", RED, shop.clock.now_ms()))

    assert shop.recover() == Recovered(looked_at=3, enqueued=1, closed=1)

    row = shop.ledger.get("dead")
    assert row is not None
    assert (row.state, row.code) == ("dead", "engine_timeout")
