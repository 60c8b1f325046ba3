"""What becomes of attempts is counted as the queue is told of it."""

from typing import Any

import pytest

from pipeline import metrics
from pipeline.errors import EngineCrashed, HostOverloaded, NoCapableWorker, StorageUnavailable
from pipeline.metrics import Metric
from pipeline.queue.counters import labels_of
from tests.integration.worker.conftest import Shop
from tests.support.processes import wait_until


def counted(shop: Shop, metric: Metric) -> dict[tuple[str, ...], int]:
    shop.counters.flush()
    found = {labels_of(metric, field): count for field, count in shop.counters.read().items()}
    return {labels: count for labels, count in found.items() if labels is not None}


def failing_once(error: Exception) -> Any:
    tries: list[str] = []

    def work(task_id: str, token: int, attempt: int) -> None:
        tries.append(task_id)
        if len(tries) == 1:
            raise error

    return work


@pytest.mark.feature("H5")
@pytest.mark.parametrize(
    ("error", "metric", "labels"),
    [
        (StorageUnavailable("down"), metrics.RETRIES, ("text", "storage_unavailable")),
        (ValueError("a bug"), metrics.RETRIES, ("text", "internal")),
        (NoCapableWorker("no GPU", retry_after_ms=1_000), metrics.DEFERS, ("text", "no_capable_worker")),
        (HostOverloaded("CPU", retry_after_ms=1_000), metrics.HAND_BACKS, ("text", "host_overloaded")),
    ],
)
def test_attempts_that_do_not_end_their_task_are_counted_by_reason(
    shop: Shop, error: Exception, metric: Metric, labels: tuple[str, ...]
) -> None:
    shop.work = failing_once(error)
    shop.submit("t")
    shop.start()

    wait_until(lambda: counted(shop, metric) == {labels: 1})


@pytest.mark.feature("H5")
def test_engines_that_images_cost_are_counted(shop: Shop) -> None:
    shop.work = failing_once(EngineCrashed("exit code -11"))
    shop.submit("t")
    shop.start()

    wait_until(lambda: counted(shop, metrics.ENGINE_FAILURES) == {("worker_crash",): 1})
    assert counted(shop, metrics.RETRIES) == {("text", "worker_crash"): 1}


@pytest.mark.feature("H5")
def test_a_lease_that_was_lost_before_the_end_was_told_is_counted_once(shop: Shop) -> None:
    def work(task_id: str, token: int, attempt: int) -> None:
        shop.queue.cancel(task_id)  # as if it had been reaped: the token is good no more

    shop.work = work
    shop.submit("t")
    shop.start()

    wait_until(lambda: counted(shop, metrics.LEASES_LOST) == {("text",): 1})


@pytest.mark.feature("H5")
def test_what_ends_well_counts_nothing_here_and_a_stop_writes_what_is_left(shop: Shop) -> None:
    shop.submit("a")
    shop.start()
    wait_until(lambda: (row := shop.ledger.get("a")) and row.state == "done")
    assert shop.counters.read() == {}
    shop.work = failing_once(StorageUnavailable("down"))
    shop.submit("b")
    wait_until(lambda: (row := shop.ledger.get("b")) and row.state == "delayed")

    shop.stop()

    assert shop.counters.read() == {(metrics.RETRIES.name, "text", "storage_unavailable"): 1}
