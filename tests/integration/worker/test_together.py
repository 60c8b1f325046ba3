"""Brief tasks that one slot does together: each ends by itself."""

import itertools

import pytest
import redis
from dramatiq import Worker
from dramatiq.errors import BrokerConnectionError

from models.base import Database
from models.ledger import Ledger
from pipeline.attempts import Bury, Complete, Retry
from pipeline.broker import ClaimedMessage, FairBroker
from pipeline.errors import DatabaseUnavailable, EngineFailure, QueueUnavailable, StorageUnavailable
from pipeline.middleware import LeaseRenewal, Measure, Outcome, RetryRules
from pipeline.queue import FairQueue, TaskState
from tests.integration.worker.conftest import RULES, Shop
from tests.support.clock import FakeClock
from tests.support.processes import wait_until

_NUMBERS = itertools.count()


def teach(shop: Shop) -> None:
    """Let the lane learn that these tasks are brief."""
    for _ in range(60):
        name = f"lesson{next(_NUMBERS)}"
        shop.submit(name)
        (claim,) = shop.queue.claim("text")
        shop.ledger.start(name, claim.token, 1)
        shop.ledger.end(name, claim.token, "failed", "bad_image", "a lesson")
        shop.queue.complete(name, claim.token, cost_ms=1)


def submit(shop: Shop, *task_ids: str) -> list[str]:
    for task_id in task_ids:
        shop.submit(task_id)
    return list(task_ids)


def group_of(shop: Shop, task_id: str) -> list[list[str]]:
    return [slot for slot in shop.slots if task_id in slot]


def test_what_waits_is_done_together_and_each_has_its_result(shop: Shop) -> None:
    teach(shop)
    names = submit(shop, *(f"t{number}" for number in range(12)))

    shop.start(threads=1)
    wait_until(lambda: shop.has_ended(*names))

    assert len(shop.slots) < 6
    assert sorted(shop.calls) == sorted(names)
    states = [(row.state, row.attempts) for row in map(shop.ledger.get, names) if row]
    assert states == [("done", 1)] * 12
    shop.stop()
    assert all(books.balances for books in shop.inspector.audit())


@pytest.mark.feature("Q15")
def test_one_that_fails_is_tried_again_and_its_neighbours_are_done(shop: Shop) -> None:
    teach(shop)
    failures = iter([StorageUnavailable("away"), RuntimeError("a bug")])

    def work(task_id: str, token: int, attempt: int) -> None:
        if task_id == "bad" and (error := next(failures, None)):
            raise error

    shop.work = work
    names = submit(shop, "good", "bad", "fine")
    shop.start(threads=1)
    wait_until(lambda: shop.has_ended(*names))

    (group, *again) = group_of(shop, "bad")
    assert "good" in group
    assert len(again) == 2
    rows = {name: shop.ledger.get(name) for name in names}
    assert {name: row and (row.state, row.attempts) for name, row in rows.items()} == {
        "good": ("done", 1),
        "bad": ("done", 3),
        "fine": ("done", 1),
    }


@pytest.mark.feature("Q9")
def test_what_has_cost_an_engine_is_done_alone_from_then_on(shop: Shop) -> None:
    teach(shop)
    failures = iter([EngineFailure("died")])

    def work(task_id: str, token: int, attempt: int) -> None:
        if task_id == "bad" and (error := next(failures, None)):
            submit(shop, *later)
            raise error

    shop.work = work
    later = [f"later{number}" for number in range(20)]
    first = submit(shop, "a", "bad", "b")
    shop.start(threads=1)
    wait_until(lambda: all(shop.ledger.get(name) for name in later) and shop.has_ended(*first, *later))

    (group, *again) = group_of(shop, "bad")
    assert group == ["a", "bad", "b"]
    assert again == [["bad"]]
    rows = [shop.ledger.get(name) for name in [*first, *later]]
    assert {row.state for row in rows if row} == {"done"}
    assert [row.attempts for row in rows if row] == [1, 2, 1, *[1] * 20], "what was handed back has cost no attempt"


class Stumbling(FairQueue):
    """Does not answer the first `retry`."""

    has_stumbled = False

    def retry(self, task_id: str, token: int, *, cost_ms: int, delay_ms: int, is_loss: bool = False) -> int:
        if not self.has_stumbled:
            self.has_stumbled = True
            raise QueueUnavailable("away")
        return super().retry(task_id, token, cost_ms=cost_ms, delay_ms=delay_ms, is_loss=is_loss)


def test_after_an_outage_the_queue_is_told_only_what_it_was_not_told(shop: Shop, valkey: redis.Redis) -> None:
    broker = FairBroker(Stumbling(valkey, RULES), poll_s=0.1, middleware=[])
    submit(shop, "good", "bad", "worse")
    message = ClaimedMessage([claim for _ in range(3) for claim in shop.queue.claim("text")])
    for attempt in message.attempts:
        shop.queue.start(attempt.claim.task_id, attempt.claim.token)
    message.attempts[0].ending = Complete()
    message.attempts[1].ending = Retry(60_000, "storage_unavailable")
    message.attempts[2].ending = Retry(60_000, "storage_unavailable")

    with pytest.raises(BrokerConnectionError):
        broker.settle(message)
    assert [attempt.is_told for attempt in message.attempts] == [True, False, True]
    broker.settle(message)

    assert [attempt.is_told for attempt in message.attempts] == [True, True, True]
    assert not any(attempt.is_lease_lost for attempt in message.attempts)
    assert all(books.balances for books in shop.inspector.audit())


def test_a_slot_whose_ending_cannot_be_told_is_free_again(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    submit(shop, "odd", "good")
    claims = [claim for _ in range(2) for claim in shop.queue.claim("text")]
    message = ClaimedMessage(claims)
    shop.broker.slots.fill(claims)
    for attempt in message.attempts:
        shop.queue.start(attempt.claim.task_id, attempt.claim.token)
    message.attempts[0].ending = Bury(TaskState.FAILED, "bad_image", "half of a pair: \ud800")
    message.attempts[1].ending = Complete()

    shop.broker.settle(message)

    assert "a bug kept the queue from being told" in caplog.text
    assert shop.broker.slots.in_use() == 0
    assert [attempt.is_told for attempt in message.attempts] == [False, True]


class Silent(Ledger):
    """Does not answer, and counts how often it was asked."""

    asked = 0

    def put_back(self, *_: object, **__: object) -> None:
        self.asked += 1
        raise DatabaseUnavailable("away")


def test_a_database_that_is_away_is_waited_for_once_for_all_of_a_slot(shop: Shop, database: Database) -> None:
    ledger = Silent(database, FakeClock())
    outcome = Outcome(ledger, FakeClock(), RetryRules(max_attempts=4, max_losses=3, base_ms=1_000, max_ms=1_000))
    submit(shop, "a", "b", "c")
    message = ClaimedMessage([claim for _ in range(3) for claim in shop.queue.claim("text")])
    message.begun += message.attempts

    outcome.after_process_message(shop.broker, message, exception=DatabaseUnavailable("away"))

    assert ledger.asked == 1
    assert [type(attempt.ending) for attempt in message.attempts] == [Retry] * 3


class Broken(Ledger):
    """Has a bug that shows with one task."""

    def put_back(self, task_id: str, *_: object, **__: object) -> None:
        if task_id == "b":
            raise ValueError("a bug")


def test_a_bug_with_one_ending_leaves_no_other_undecided(shop: Shop, database: Database) -> None:
    ledger = Broken(database, FakeClock())
    outcome = Outcome(ledger, FakeClock(), RetryRules(max_attempts=4, max_losses=3, base_ms=1_000, max_ms=1_000))
    submit(shop, "a", "b", "c", "d")
    message = ClaimedMessage([claim for _ in range(4) for claim in shop.queue.claim("text")])
    message.begun += message.attempts
    for attempt in message.attempts[:3]:
        attempt.error = StorageUnavailable("away")

    outcome.after_process_message(shop.broker, message)

    assert [type(attempt.ending) for attempt in message.attempts] == [Retry, Retry, Retry, Complete]


class Deaf(FairQueue):
    """Does not answer for one task, and notes for which it was asked."""

    def __init__(self, client: redis.Redis, deaf_to: str) -> None:
        super().__init__(client, RULES)
        self.deaf_to = deaf_to
        self.asked: list[str] = []

    def renew(self, task_id: str, token: int) -> int:
        self.asked.append(task_id)
        if task_id == self.deaf_to:
            raise QueueUnavailable("silent")
        return super().renew(task_id, token)


def test_a_silent_shard_is_asked_once_for_a_slot_and_keeps_no_other_lease_waiting(
    shop: Shop, valkey: redis.Redis
) -> None:
    submit(shop, "a", "b", "c", "image")
    claims = [claim for _ in range(4) for claim in shop.queue.claim("text")]
    shop.broker.slots.open({"text": 2})
    shop.broker.slots.fill(claims[:3])
    shop.broker.slots.fill(claims[3:])
    queue = Deaf(valkey, deaf_to="a")
    renewal = LeaseRenewal(queue, renew_s=0.01)

    renewal.after_worker_boot(shop.broker, Worker(shop.broker))
    wait_until(lambda: "image" in queue.asked)
    renewal.after_worker_shutdown(shop.broker, Worker(shop.broker))

    assert queue.asked[:2] == ["a", "image"]
    assert "b" not in queue.asked


def test_what_was_spent_for_all_of_a_slot_is_divided_equally(shop: Shop, clock: FakeClock) -> None:
    submit(shop, "brief", "long")
    message = ClaimedMessage([claim for _ in range(2) for claim in shop.queue.claim("text")])
    message.begun += message.attempts
    measure = Measure(clock)

    measure.before_process_message(shop.broker, message)
    clock.advance(100)
    message.attempts[0].own_ms, message.attempts[1].own_ms = 10, 70
    measure.after_process_message(shop.broker, message)

    assert [attempt.cost_ms for attempt in message.attempts] == [20, 80]
