"""Fencing: a lease that is over changes nothing, and a task ends once."""

from collections.abc import Callable, Sequence

import pytest

from models.ledger import Begun, Ledger, TaskRow
from pipeline.errors import LeaseLost, TaskEnded, TaskNotFound
from tests.support.clock import FakeClock
from tests.support.records import everything, finished, new_task, step


def test_start_records_the_lease_the_attempt_and_the_time(ledger: Ledger, clock: FakeClock) -> None:
    ledger.accept(new_task())
    clock.advance(700)

    row = ledger.start("t1", 7, 3)

    assert (row.state, row.token, row.attempts, row.started_ms) == ("running", 7, 3, clock.now_ms())
    assert row == ledger.get("t1")
    assert row == ledger.start("t1", 7, 3), "an answer that got lost may be asked for again"


def test_a_newer_lease_takes_a_running_task_over(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)

    assert ledger.start("t1", 9, 2).token == 9


def test_a_task_that_is_finished_at_once_has_what_its_start_would_have_written(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    ledger.put_back("t1", 7, "delayed", "storage_unavailable", "for a while", 5)

    (seen,) = ledger.startable_each([("t1", 9)])
    assert isinstance(seen, TaskRow)
    assert seen.state == "delayed", "nobody is told yet"
    ledger.finish("t1", 9, finished(), Begun(2, 1_760_000_000_003))

    row = ledger.get("t1")
    assert row is not None
    assert (row.state, row.token, row.attempts, row.started_ms) == ("done", 9, 2, 1_760_000_000_003)
    assert (row.due_ms, row.code, row.reason) == (None, "", "")


@pytest.mark.feature("Q7")
@pytest.mark.parametrize("name", ["startable", "finish_at_once"])
def test_a_lease_that_gave_its_task_back_does_not_finish_it(ledger: Ledger, name: str) -> None:
    ledger.accept(new_task())
    ledger.put_back("t1", 7, "queued", "worker_stopped", "", None)
    before = everything()

    with pytest.raises(LeaseLost):
        STALE[name](ledger, 7)

    assert everything() == before


def raised(answers: Sequence[object]) -> object:
    """The only answer, raised if it is an error."""
    (answer,) = answers
    if isinstance(answer, Exception):
        raise answer
    return answer


STALE: dict[str, Callable[[Ledger, int], object]] = {
    "start": lambda ledger, token: ledger.start("t1", token, 1),
    "note_steps": lambda ledger, token: ledger.note_steps("t1", token, [step("ocr", "running")]),
    "startable": lambda ledger, token: raised(ledger.startable_each([("t1", token)])),
    "finish_at_once": lambda ledger, token: ledger.finish("t1", token, finished(), Begun(1, 5)),
    "finish": lambda ledger, token: ledger.finish("t1", token, finished()),
    "put_back": lambda ledger, token: ledger.put_back(
        "t1", token, "delayed", "storage_unavailable", "", 5, [step("ocr")]
    ),
    "end": lambda ledger, token: ledger.end("t1", token, "failed", "bad_image", "no image", [step("ocr")]),
}


@pytest.mark.feature("R2")
@pytest.mark.feature("Q7")
@pytest.mark.parametrize("call", STALE.values(), ids=STALE.keys())
def test_a_lease_that_is_over_changes_nothing(ledger: Ledger, call: Callable[[Ledger, int], object]) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    ledger.start("t1", 9, 2)
    before = everything()

    with pytest.raises(LeaseLost):
        call(ledger, 7)

    assert everything() == before


@pytest.mark.feature("R2")
@pytest.mark.parametrize("end", ["done", "failed", "expired"])
@pytest.mark.parametrize("name", ["start", "startable", "finish", "finish_at_once", "put_back", "end"])
def test_a_task_that_has_ended_is_never_touched_again(ledger: Ledger, name: str, end: str) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    _end(ledger, end)
    before = everything()

    for token in (7, 8):
        with pytest.raises(TaskEnded) as caught:
            STALE[name](ledger, token)
        assert caught.value.state == end
    with pytest.raises(LeaseLost):
        STALE[name](ledger, 6)
    assert not ledger.close("t1", "cancelled", "cancelled", "")

    assert everything() == before


def _end(ledger: Ledger, state: str) -> None:
    if state == "done":
        ledger.finish("t1", 7, finished())
    elif state == "failed":
        ledger.end("t1", 7, "failed", "bad_image", "not an image")
    else:
        ledger.close("t1", state, state, "too late")


@pytest.mark.parametrize("call", STALE.values(), ids=STALE.keys())
def test_an_unknown_task_is_not_found(ledger: Ledger, call: Callable[[Ledger, int], object]) -> None:
    with pytest.raises(TaskNotFound):
        call(ledger, 1)


def test_finish_needs_a_start(ledger: Ledger) -> None:
    ledger.accept(new_task())

    with pytest.raises(LeaseLost):
        ledger.finish("t1", 7, finished())


def test_no_steps_are_noted_on_a_task_that_was_closed(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    ledger.close("t1", "cancelled", "cancelled", "")

    with pytest.raises(TaskEnded):
        ledger.note_steps("t1", 7, [step("ocr")])


def test_a_task_put_back_runs_again_under_a_newer_lease_only(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    ledger.put_back("t1", 7, "delayed", "storage_unavailable", "no answer", 99_000)

    for call in (STALE["start"], STALE["finish"], STALE["note_steps"]):
        with pytest.raises(LeaseLost):
            call(ledger, 7)
    row = ledger.start("t1", 8, 2)

    assert (row.state, row.due_ms, row.code, row.reason) == ("running", None, "", "")


def test_a_lease_that_never_started_may_put_back_or_end(ledger: Ledger) -> None:
    ledger.accept(new_task("a"))
    ledger.accept(new_task("b"))

    ledger.put_back("a", 7, "queued", "host_overloaded", "memory", None)
    ledger.end("b", 7, "dead", "no_capable_worker", "no GPU")

    rows = [ledger.get("a"), ledger.get("b")]
    assert [(row.state, row.token, row.attempts) for row in rows if row] == [("queued", 7, 0), ("dead", 7, 0)]


def test_close_ends_a_running_task_and_its_worker_hears_of_it(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)

    assert ledger.close("t1", "cancelled", "cancelled", "by a client")

    with pytest.raises(TaskEnded):
        ledger.finish("t1", 7, finished())
    view = ledger.view("t1")
    assert view
    assert view.task.state == "cancelled"
    assert view.detection is None
