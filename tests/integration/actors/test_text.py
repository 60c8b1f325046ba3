"""A text's task, run by hand: when the ledger hears of its start, and what it keeps of an attempt that failed."""

from collections.abc import Sequence
from typing import Any

import pytest

from models.base import Database
from models.ledger import GoodEnd, Ledger, TaskRow
from pipeline.actors.text import TextWork
from pipeline.attempts import Attempt
from pipeline.detector.detector import Detector
from pipeline.errors import LeaseLost, ListUnavailable, TaskEnded, TaskNotFound
from pipeline.queue import Claim, Started
from tests.support.clock import FakeClock
from tests.support.records import new_task


class Lists:
    """Lists that look at the row while a text is screened, and then do as told."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.seen: list[TaskRow | None] = []
        self.error: Exception | None = None

    def detector(self, site: str, mac: str) -> Detector:
        self.seen.append(self.ledger.get("t"))
        if self.error:
            raise self.error
        return Detector()


#: Each of another device.
MACS = {"good": "aabbccddee01", "bad": "aabbccddee02", "fine": "aabbccddee03"}


class Calm:
    """Lists that are there, but for one device."""

    def __init__(self, bad_mac: str = "", clock: FakeClock | None = None) -> None:
        self.bad_mac, self.clock = bad_mac, clock

    def detector(self, site: str, mac: str) -> Detector:
        if mac == self.bad_mac:
            if self.clock:
                self.clock.advance(500)
            raise ListUnavailable("away")
        return Detector()


@pytest.fixture
def ledger(database: Database, clock: FakeClock) -> Ledger:
    return Ledger(database, clock)


def _attempt(task_id: str, token: int = 1, number: int = 1) -> Attempt:
    attempt = Attempt(Claim(task_id, "text", "aabbccddeeff", "local", token, 0))
    attempt.begin(Started(number, 0, b"{}"))
    return attempt


def _run(ledger: Ledger, clock: FakeClock, lists: Any, text: str, *, token: int = 1, attempt: int = 1) -> None:
    """Run one text. Raises: what its attempt ends by."""
    ledger.accept(new_task("t", lane="text", payload={"text": text, "words": []}))
    one = _attempt("t", token, attempt)
    TextWork(ledger, lists, clock).run([one])
    if one.error:
        raise one.error


@pytest.mark.parametrize(
    ("characters", "attempt", "state"), [(10, 1, "queued"), (10, 2, "running"), (20_000, 1, "running")]
)
def test_the_ledger_hears_of_the_start_of_a_brief_text_with_its_end(
    ledger: Ledger, clock: FakeClock, characters: int, attempt: int, state: str
) -> None:
    lists = Lists(ledger)

    _run(ledger, clock, lists, "x" * characters, token=7, attempt=attempt)

    (seen,) = lists.seen
    assert seen is not None
    assert seen.state == state
    row = ledger.get("t")
    assert row is not None
    assert (row.state, row.token, row.attempts, row.started_ms) == ("done", 7, attempt, clock.now_ms())


@pytest.mark.parametrize("error", [ListUnavailable("away"), RuntimeError("a bug")])
def test_an_attempt_that_fails_is_in_the_ledger_with_its_step(
    ledger: Ledger, clock: FakeClock, error: Exception
) -> None:
    lists = Lists(ledger)
    lists.error = error

    with pytest.raises(type(error)):
        _run(ledger, clock, lists, "short", token=7, attempt=2)

    view = ledger.view("t")
    assert view is not None
    assert (view.task.state, view.task.token, view.task.attempts) == ("running", 7, 2)
    failed = [step.reason for step in view.steps if step.state == "failed"]
    assert failed == (["list_unavailable: away"] if isinstance(error, ListUnavailable) else [])


@pytest.mark.feature("Q7")
def test_a_text_that_a_newer_lease_has_begun_is_left_to_it(ledger: Ledger, clock: FakeClock) -> None:
    lists = Lists(ledger)
    before = lists.detector

    def newer_begins(site: str, mac: str) -> Detector:
        ledger.start("t", 9, 2)
        return before(site, mac)

    lists.detector = newer_begins  # type: ignore[method-assign]
    with pytest.raises(LeaseLost):
        _run(ledger, clock, lists, "short", token=7)

    view = ledger.view("t")
    assert view is not None
    assert (view.task.state, view.task.token, view.detection) == ("running", 9, None)


def test_texts_of_one_slot_each_stand_for_themselves(ledger: Ledger, clock: FakeClock) -> None:
    for task_id in ("good", "withdrawn", "cancelled", "taken", "fine"):
        ledger.accept(new_task(task_id, lane="text", payload={"text": f"of {task_id}", "words": []}))
    ledger.withdraw("withdrawn")
    ledger.close("cancelled", "cancelled", "cancelled", "")
    ledger.start("taken", 9, 2)
    attempts = [_attempt(task_id, token=7) for task_id in ("good", "withdrawn", "cancelled", "taken", "fine")]

    TextWork(ledger, Calm(), clock).run(attempts)  # type: ignore[arg-type]

    errors = [type(attempt.error) for attempt in attempts]
    assert errors == [type(None), TaskNotFound, TaskEnded, LeaseLost, type(None)]
    for task_id in ("good", "fine"):
        view = ledger.view(task_id)
        assert view is not None
        assert view.detection is not None
        assert (view.task.state, view.detection.text) == ("done", f"of {task_id}")


def test_a_text_that_cannot_be_screened_costs_its_neighbours_nothing(ledger: Ledger, clock: FakeClock) -> None:
    for task_id in ("good", "bad", "fine"):
        ledger.accept(new_task(task_id, lane="text", payload={"text": task_id, "words": []}, mac=MACS[task_id]))
    attempts = [_attempt(task_id, token=7) for task_id in ("good", "bad", "fine")]

    TextWork(ledger, Calm(bad_mac=MACS["bad"]), clock).run(attempts)  # type: ignore[arg-type]

    assert [type(attempt.error) for attempt in attempts] == [type(None), ListUnavailable, type(None)]
    rows = {task_id: ledger.get(task_id) for task_id in ("good", "bad", "fine")}
    assert {task_id: row and row.state for task_id, row in rows.items()} == {
        "good": "done",
        "bad": "running",  # so that what becomes of it can be written in its name
        "fine": "done",
    }


class Noting(Ledger):
    """Notes which texts are stored together."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        super().__init__(database, clock)
        self.stored: list[list[str]] = []

    def finish_each(self, ends: Sequence[GoodEnd]) -> list[Exception | None]:
        self.stored.append([end.task_id for end in ends])
        return super().finish_each(ends)


def test_one_that_is_slow_keeps_no_result_of_its_neighbours_and_pays_for_itself(
    database: Database, clock: FakeClock
) -> None:
    ledger = Noting(database, clock)
    for task_id in ("good", "bad", "fine"):
        ledger.accept(new_task(task_id, lane="text", payload={"text": task_id, "words": []}, mac=MACS[task_id]))
    attempts = [_attempt(task_id, token=7) for task_id in ("good", "bad", "fine")]

    TextWork(ledger, Calm(MACS["bad"], clock), clock).run(attempts)  # type: ignore[arg-type]

    assert ledger.stored == [["good"], ["fine"]]
    assert [attempt.own_ms for attempt in attempts] == [0, 500, 0]
