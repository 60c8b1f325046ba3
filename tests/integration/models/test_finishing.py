"""Ends that threads bring at the same time are one transaction, in which each stands for itself."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from models.announcing import Announcing
from models.base import Database
from models.ledger import Begun, Ledger
from models.rows import Finished, TaskRow
from models.webhook_delivery import WebhookDelivery
from pipeline import tracing
from pipeline.errors import LeaseLost, TaskEnded
from tests.support.clock import FakeClock
from tests.support.processes import wait_until
from tests.support.records import everything, finished, new_task
from tests.support.written_traces import WrittenTraces

Deed = Callable[[], object]


class SlowClock(FakeClock):
    """Stands still once, in the thread that asks it then."""

    def __init__(self) -> None:
        super().__init__()
        self.stands, self.goes_on = threading.Event(), threading.Event()
        self.is_slow = False

    def now_ms(self) -> int:
        if self.is_slow:
            self.is_slow = False
            self.stands.set()
            assert self.goes_on.wait(30)
        return super().now_ms()


class House:
    """A ledger whose first end lasts until all others wait."""

    def __init__(self, database: Database, announcing: Announcing | None = None) -> None:
        self.clock = SlowClock()
        self.ledger = Ledger(database, self.clock, announcing)

    def at_once(self, *deeds: Deed) -> list["Future[object]"]:
        """Do these while a first task ends."""
        self.ledger.accept(new_task("first"))
        self.clock.is_slow = True
        pool = ThreadPoolExecutor(len(deeds) + 1)
        first = pool.submit(self.ledger.finish, "first", 1, finished(), Begun(1, 5))
        self.clock.stands.wait(30)
        done = [pool.submit(deed) for deed in deeds]
        wait_until(lambda: len(self.ledger._finishing._together._waiting) == len(deeds), 30)
        self.clock.goes_on.set()
        pool.shutdown()
        first.result()
        return done

    def finish(self, task_id: str, token: int, outcome: Finished | None = None, begun: Begun | None = None) -> Deed:
        return lambda: self.ledger.finish(task_id, token, outcome or finished(f"of {task_id}"), begun)

    def row(self, task_id: str) -> TaskRow:
        row = self.ledger.get(task_id)
        assert row
        return row


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


def test_each_end_of_a_group_has_its_own_result_and_steps(house: House) -> None:
    for number in range(5):
        house.ledger.accept(new_task(f"t{number}"))
    house.ledger.start("t0", 7, 2)
    text = Finished(ocr=None, detection=finished("a text").detection, steps=[], run_ms=3)

    done = house.at_once(
        house.finish("t0", 7),
        *(house.finish(f"t{number}", 8, begun=Begun(number, 77)) for number in (1, 2, 3)),
        house.finish("t4", 9, text, Begun(1, 78)),
    )

    assert not any(one.exception() for one in done)
    views = [house.ledger.view(f"t{number}") for number in range(5)]
    assert [view and view.detection and view.detection.text for view in views] == [
        *(f"of t{number}" for number in range(4)),
        "a text",
    ]
    assert [view and view.ocr and view.ocr.text for view in views] == [*(f"of t{number}" for number in range(4)), None]
    assert [house.row(f"t{number}").attempts for number in range(5)] == [2, 1, 2, 3, 1]
    assert {house.row(f"t{number}").state for number in range(5)} == {"done"}
    names = [{step.name for step in view.steps} for view in views if view]
    assert names == [{"enqueued", "fetch", "ocr", "screen", "store", "notify"}] * 4 + [{"enqueued", "notify"}]


@pytest.mark.feature("R2")
def test_a_lease_that_is_over_ends_nothing_and_keeps_nobody_from_ending(house: House) -> None:
    for task_id in ("mine", "taken", "cancelled"):
        house.ledger.accept(new_task(task_id))
    house.ledger.start("taken", 9, 2)
    house.ledger.close("cancelled", "cancelled", "cancelled", "")

    mine, taken, cancelled = house.at_once(
        house.finish("mine", 7, begun=Begun(1, 5)),
        house.finish("taken", 7, begun=Begun(1, 5)),
        house.finish("cancelled", 7, begun=Begun(1, 5)),
    )

    assert mine.exception() is None
    assert isinstance(taken.exception(), LeaseLost)
    assert isinstance(cancelled.exception(), TaskEnded)
    assert [house.row(task_id).state for task_id in ("mine", "taken", "cancelled")] == ["done", "running", "cancelled"]


@pytest.mark.feature("R2")
def test_two_leases_of_one_task_in_a_group_end_it_once(house: House) -> None:
    house.ledger.accept(new_task("t"))

    older, newer = house.at_once(house.finish("t", 7, begun=Begun(1, 5)), house.finish("t", 9, begun=Begun(2, 6)))

    assert isinstance(older.exception(), LeaseLost)
    assert newer.exception() is None
    assert (house.row("t").token, house.row("t").attempts) == (9, 2)


def test_an_end_that_cannot_be_written_costs_its_neighbours_nothing(house: House) -> None:
    for task_id in ("good", "bad", "fine"):
        house.ledger.accept(new_task(task_id))
    # No column takes such a number.
    bad_outcome = Finished(ocr=None, detection=finished().detection, steps=[], run_ms=1 << 80)
    before = [row for row in everything()["Task"] if row["task_id"] == "bad"]

    good, bad, fine = house.at_once(
        house.finish("good", 7, begun=Begun(1, 5)),
        house.finish("bad", 7, bad_outcome, Begun(1, 5)),
        house.finish("fine", 7, begun=Begun(1, 5)),
    )

    assert good.exception() is None
    assert fine.exception() is None
    assert bad.exception() is not None
    assert [row for row in everything()["Task"] if row["task_id"] == "bad"] == before


def test_an_announcement_goes_on_from_the_span_of_its_own_thread(database: Database) -> None:
    house = House(database, Announcing(url="https://receiver.example/"))
    traces = WrittenTraces()
    spans = {task_id: traces.begin("task", None, "consumer", {}) for task_id in ("a", "b", "c")}
    for task_id, span in spans.items():
        house.ledger.accept(new_task(task_id, traceparent=span.traceparent))

    def finish(task_id: str) -> None:
        with tracing.Scope(spans[task_id].child("store")):
            house.finish(task_id, 7, begun=Begun(1, 5))()

    for done in house.at_once(*(lambda task_id=task_id: finish(task_id) for task_id in spans)):
        assert done.exception() is None

    told = {one.task_id: one.traceparent for one in WebhookDelivery.select() if one.task_id in spans}
    assert set(told) == set(spans)
    for task_id, parent in told.items():
        assert str(parent).split("-")[1] == str(spans[task_id].traceparent).split("-")[1]
        assert parent != spans[task_id].traceparent
