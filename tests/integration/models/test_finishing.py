"""Ends that are brought together are one transaction, in which each stands for itself."""

import pytest

from models.announcing import Announcing
from models.base import Database
from models.ledger import Begun, GoodEnd, Ledger
from models.rows import Finished, TaskRow
from models.webhook_delivery import WebhookDelivery
from pipeline import tracing
from pipeline.errors import LeaseLost, TaskEnded
from tests.support.clock import FakeClock
from tests.support.records import everything, finished, new_task
from tests.support.written_traces import WrittenTraces


class House:
    """A ledger that ends tasks together."""

    def __init__(self, database: Database, announcing: Announcing | None = None) -> None:
        self.ledger = Ledger(database, FakeClock(), announcing)

    def row(self, task_id: str) -> TaskRow:
        row = self.ledger.get(task_id)
        assert row
        return row


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


def end_of(task_id: str, token: int, outcome: Finished | None = None, begun: Begun | None = None) -> GoodEnd:
    return GoodEnd(task_id, token, outcome or finished(f"of {task_id}"), begun)


def test_each_end_of_a_group_has_its_own_result_and_steps(house: House) -> None:
    for number in range(5):
        house.ledger.accept(new_task(f"t{number}"))
    house.ledger.start("t0", 7, 2)
    text = Finished(ocr=None, detection=finished("a text").detection, steps=[], run_ms=3)

    done = house.ledger.finish_each(
        [
            end_of("t0", 7),
            *(end_of(f"t{number}", 8, begun=Begun(number, 77)) for number in (1, 2, 3)),
            end_of("t4", 9, text, Begun(1, 78)),
        ]
    )

    assert done == [None] * 5
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

    mine, taken, cancelled = house.ledger.finish_each(
        [
            end_of("mine", 7, begun=Begun(1, 5)),
            end_of("taken", 7, begun=Begun(1, 5)),
            end_of("cancelled", 7, begun=Begun(1, 5)),
        ]
    )

    assert mine is None
    assert isinstance(taken, LeaseLost)
    assert isinstance(cancelled, TaskEnded)
    assert [house.row(task_id).state for task_id in ("mine", "taken", "cancelled")] == ["done", "running", "cancelled"]


def test_an_end_that_cannot_be_written_costs_its_neighbours_nothing(house: House) -> None:
    for task_id in ("good", "bad", "fine"):
        house.ledger.accept(new_task(task_id))
    # No column takes such a number.
    bad_outcome = Finished(ocr=None, detection=finished().detection, steps=[], run_ms=1 << 80)
    before = [row for row in everything()["Task"] if row["task_id"] == "bad"]

    good, bad, fine = house.ledger.finish_each(
        [
            end_of("good", 7, begun=Begun(1, 5)),
            end_of("bad", 7, bad_outcome, Begun(1, 5)),
            end_of("fine", 7, begun=Begun(1, 5)),
        ]
    )

    assert good is None
    assert fine is None
    assert bad is not None
    assert [row for row in everything()["Task"] if row["task_id"] == "bad"] == before


def test_an_announcement_goes_on_from_the_span_of_its_own_task(database: Database) -> None:
    house = House(database, Announcing(url="https://receiver.example/"))
    traces = WrittenTraces()
    spans = {task_id: traces.begin("task", None, "consumer", {}) for task_id in ("a", "b", "c")}
    ends = []
    for task_id, span in spans.items():
        house.ledger.accept(new_task(task_id, traceparent=span.traceparent))
        with tracing.Scope(span.child("store")):
            ends.append(end_of(task_id, 7, begun=Begun(1, 5)))

    assert house.ledger.finish_each(ends) == [None] * 3

    told = {one.task_id: one.traceparent for one in WebhookDelivery.select() if one.task_id in spans}
    assert set(told) == set(spans)
    for task_id, parent in told.items():
        assert str(parent).split("-")[1] == str(spans[task_id].traceparent).split("-")[1]
        assert parent != spans[task_id].traceparent
