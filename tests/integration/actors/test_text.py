"""A text's task, run by hand: when the ledger hears of its start, and what it keeps of an attempt that failed."""

from typing import Any

import pytest

from models.base import Database, connection
from models.ledger import Ledger, TaskRow
from pipeline.actors.text import TextWork
from pipeline.detector.detector import Detector
from pipeline.errors import LeaseLost, ListUnavailable
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


@pytest.fixture
def ledger(database: Database, clock: FakeClock) -> Ledger:
    return Ledger(database, clock)


def _run(ledger: Ledger, clock: FakeClock, lists: Any, text: str, *, token: int = 1, attempt: int = 1) -> None:
    with connection():
        ledger.accept(new_task("t", lane="text", payload={"text": text, "words": []}))
        TextWork(ledger, lists, clock).run("t", token, attempt)


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
