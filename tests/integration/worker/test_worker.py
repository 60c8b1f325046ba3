"""A task's way through a worker: every class of error ends as it should, in the queue and in the ledger."""

import logging
import threading
from typing import Any

import pytest

from pipeline.errors import (
    BadImage,
    ConfigurationError,
    EngineCrashed,
    EngineMemory,
    EngineTimeout,
    HostOverloaded,
    NoCapableWorker,
    QueueUnavailable,
    StorageUnavailable,
)
from pipeline.queue import WorkerView
from tests.integration.worker.conftest import WORD_FAULT, Shop
from tests.support.processes import wait_until


def states_of(shop: Shop, task_id: str) -> tuple[str, str]:
    """Where the queue and the ledger have the task."""
    queued, row = shop.inspector.find(task_id), shop.ledger.get(task_id)
    assert queued is not None
    assert row is not None
    return queued.state.value, row.state


def failing_with(error: Exception) -> Any:
    def work(task_id: str, token: int, attempt: int) -> None:
        raise error

    return work


@pytest.mark.feature("M2")
def test_work_that_returns_is_done_in_both_books(shop: Shop) -> None:
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("done", "done"))
    assert all(books.balances for books in shop.inspector.audit())


@pytest.mark.feature("M2")
def test_bad_image_is_buried_on_first_failure(shop: Shop) -> None:
    shop.work = failing_with(BadImage("cut short"))
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("failed", "failed"))
    row = shop.ledger.get("t")
    assert row is not None
    assert (row.code, row.reason, row.attempts) == ("bad_image", "cut short", 1)
    assert shop.inspector.dead_letters()[0]["code"] == "bad_image"


def is_dead(shop: Shop, task_id: str) -> bool:
    """Bring the task back whenever it is due, and say whether it is dead in both books."""
    shop.queue.promote()
    return states_of(shop, task_id) == ("dead", "dead")


@pytest.mark.feature("M2")
@pytest.mark.parametrize("error", [StorageUnavailable("down"), ZeroDivisionError("a bug")])
def test_what_may_pass_is_tried_again_and_dead_after_the_last_attempt(shop: Shop, error: Exception) -> None:
    shop.work = failing_with(error)
    shop.submit("t")
    shop.start()

    wait_until(lambda: is_dead(shop, "t"))
    assert shop.calls == ["t"] * 4


@pytest.mark.feature("Q9")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EngineCrashed("exit code -11"), "worker_crash"),
        (EngineTimeout("120 s"), "engine_timeout"),
        (EngineMemory("4 GB"), "engine_memory"),
    ],
)
def test_what_costs_an_engine_each_time_is_dead_after_three_and_says_why(
    shop: Shop, error: Exception, code: str
) -> None:
    shop.work = failing_with(error)
    shop.submit("t")
    shop.start()

    wait_until(lambda: is_dead(shop, "t"))
    assert shop.calls == ["t"] * 3
    row = shop.ledger.get("t")
    assert row is not None
    assert (row.code, shop.inspector.dead_letters()[0]["code"]) == (code, code)


@pytest.mark.feature("Q9")
def test_engines_and_workers_that_a_task_costs_count_together(shop: Shop) -> None:
    shop.submit("t")
    for _ in range(2):
        (claim,) = shop.queue.claim("text")
        shop.queue.retry("t", claim.token, cost_ms=1, delay_ms=0, is_loss=True)
        shop.queue.promote()
    shop.work = failing_with(EngineCrashed("exit code -11"))
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("dead", "dead"))
    assert shop.calls == ["t"]


def test_no_capable_worker_defers_without_an_attempt(shop: Shop) -> None:
    shop.work = failing_with(NoCapableWorker("no GPU", retry_after_ms=30_000))
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("delayed", "delayed"))
    queued = shop.inspector.find("t")
    assert queued is not None
    assert (queued.attempts, queued.defers) == (0, 1)


@pytest.mark.feature("M1")
def test_an_overloaded_host_hands_back_without_attempt_or_backoff(shop: Shop) -> None:
    refused = threading.Event()

    def work(task_id: str, token: int, attempt: int) -> None:
        if not refused.is_set():
            refused.set()
            raise HostOverloaded("over the watermark", retry_after_ms=1_000)

    shop.work = work
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("done", "done"))
    row = shop.ledger.get("t")
    assert row is not None
    assert row.attempts == 1


def test_a_task_the_ledger_has_ended_is_not_done_again_and_alarms_nobody(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pipeline.middleware.outcome")
    shop.submit("t")
    shop.ledger.close("t", "cancelled", "cancelled", "by its owner")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("cancelled", "cancelled"))
    assert [record.levelname for record in caplog.records if "has ended: cancelled" in record.message] == ["INFO"]


def test_a_cancel_that_is_faster_than_a_bad_end_stands_in_both_books(shop: Shop) -> None:
    def cancelled_meanwhile(task_id: str, token: int, attempt: int) -> None:
        shop.ledger.close(task_id, "cancelled", "cancelled", "by its owner")
        raise BadImage("cut short")

    shop.work = cancelled_meanwhile
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("cancelled", "cancelled"))
    assert shop.inspector.dead_letters() == []


@pytest.mark.feature("Q13")
def test_a_withdrawn_submission_is_forgotten_so_that_its_id_may_come_again(shop: Shop) -> None:
    shop.submit("t")
    shop.ledger.withdraw("t")
    shop.start()
    wait_until(lambda: shop.inspector.find("t") is None)

    shop.submit("t")

    wait_until(lambda: states_of(shop, "t") == ("done", "done"))
    assert all(books.balances for books in shop.inspector.audit())


@pytest.mark.feature("Q8")
@pytest.mark.feature("M3")
def test_a_lease_is_renewed_while_the_work_lasts(shop: Shop) -> None:
    go_on = shop.work_until_told()
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)
    (first_deadline,) = deadlines(shop)

    wait_until(lambda: deadlines(shop)[0] > first_deadline + 1_000)

    go_on.set()
    wait_until(lambda: states_of(shop, "t") == ("done", "done"))


def deadlines(shop: Shop) -> list[float]:
    return [score for _, score in shop.queue._client.zrange(shop.queue.keys.leases("text"), 0, -1, withscores=True)]


@pytest.mark.feature("Q7")
def test_work_that_lost_its_lease_stores_nothing(shop: Shop) -> None:
    def work(task_id: str, token: int, attempt: int) -> None:
        shop.ledger.start(task_id, token + 1, attempt + 1)  # somebody newer has begun

    shop.work = work
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)
    shop.stop()

    view = shop.ledger.view("t")
    assert view is not None
    assert view.task.state == "running"
    assert view.detection is None


@pytest.mark.feature("S7")
def test_a_stopping_worker_finishes_what_runs_and_claims_no_more(shop: Shop) -> None:
    go_on = shop.work_until_told()
    for number in range(3):
        shop.submit(f"t{number}")
    shop.start(threads=1)
    wait_until(lambda: shop.calls)

    stopping = threading.Thread(target=shop.stop)
    stopping.start()
    wait_until(lambda: shop.broker.slots.is_closed)
    go_on.set()
    stopping.join()

    assert states_of(shop, "t0") == ("done", "done")
    assert [states_of(shop, f"t{number}") for number in (1, 2)] == [("queued", "queued")] * 2
    assert shop.calls == ["t0"]
    assert all(books.balances for books in shop.inspector.audit())


@pytest.mark.feature("S2")
def test_a_worker_is_in_the_registry_while_it_works_and_gone_after_a_clean_stop(shop: Shop) -> None:
    shop.start(threads=3)
    (entry,) = shop.roster.workers()
    shop.stop()

    assert (entry["queues"], entry["declared_concurrency"], entry["effective_concurrency"]) == ("text", "3", "3")
    assert {"hostname", "pid", "active_tasks", "engine", "cpu_percent", "last_heartbeat", "version"} <= set(entry)
    assert WorkerView.of(entry, now_ms=0).word_faults == [WORD_FAULT]
    assert shop.roster.workers() == []


def test_an_outage_of_the_queue_is_waited_out(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, failures = shop.broker._queue.claim, iter(range(3))

    def failing_thrice(lane: Any, **wanted: int) -> Any:
        if next(failures, None) is not None:
            raise QueueUnavailable("down")
        return claim(lane, **wanted)

    monkeypatch.setattr(shop.broker._queue, "claim", failing_thrice)
    shop.submit("t")
    shop.start()

    wait_until(lambda: states_of(shop, "t") == ("done", "done"))


@pytest.mark.feature("S6")
def test_a_queue_name_that_is_no_lane_is_refused(shop: Shop) -> None:
    with pytest.raises(ConfigurationError, match="there are: ocr, text"):
        shop.broker.declare_queue("orc")


def test_send_is_refused_because_tasks_enter_through_the_intake(shop: Shop) -> None:
    with pytest.raises(ConfigurationError, match="intake"):
        shop.broker.get_actor("execute_text").send("t", 1, 1)
