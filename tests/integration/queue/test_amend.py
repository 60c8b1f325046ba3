"""amend: the queue follows the ledger, which may have heard of an end that the queue has not."""

import pytest

from pipeline.queue import TaskState
from tests.support.line import RED, Line


def state_of(line: Line, task_id: str) -> TaskState:
    found = line.inspector.find(task_id)
    assert found is not None
    return found.state


def lose_three_workers(line: Line) -> tuple[str, int]:
    """A task that is dead because its worker was lost each time; its last token."""
    (task_id,) = line.submit(RED)
    token = 0
    for _ in range(3):
        token = line.claim().token
        line.clock.advance(31_000)
        line.queue.reap("ocr")
    assert state_of(line, task_id) is TaskState.DEAD
    return task_id, token


def test_a_task_ended_otherwise_is_counted_where_the_ledger_has_it(line: Line) -> None:
    task_id, token = lose_three_workers(line)

    assert line.queue.amend(task_id, token, ending=TaskState.DONE, code="")

    assert state_of(line, task_id) is TaskState.DONE
    (ocr, *_) = line.inspector.audit()
    assert (ocr.ended[TaskState.DONE], ocr.ended[TaskState.DEAD], ocr.balances) == (1, 0, True)


def test_the_dead_letter_of_a_task_that_was_done_is_taken_back_alone(line: Line) -> None:
    other, _ = lose_three_workers(line)
    task_id, token = lose_three_workers(line)

    line.queue.amend(task_id, token, ending=TaskState.DONE, code="")

    assert [letter["task_id"] for letter in line.inspector.dead_letters()] == [other]


@pytest.mark.parametrize("place", ["queued", "delayed", "leased"])
def test_a_task_that_has_not_ended_is_taken_out_of_its_place(line: Line, place: str) -> None:
    (task_id,) = line.submit(RED)
    token = 0
    if place != "queued":
        token = line.claim().token
    if place == "delayed":
        line.queue.retry(task_id, token, cost_ms=1, delay_ms=9_000)

    assert line.queue.amend(task_id, token, ending=TaskState.EXPIRED, code="expired")

    assert state_of(line, task_id) is TaskState.EXPIRED
    assert line.queue.claim("ocr") == []
    line.assert_books_balance()


def test_a_task_that_died_in_the_ledger_gets_its_dead_letter(line: Line) -> None:
    (task_id,) = line.submit(RED)

    line.queue.amend(task_id, 0, ending=TaskState.DEAD, code="engine_crashed")

    assert [letter["code"] for letter in line.inspector.dead_letters()] == ["engine_crashed"]


def test_a_task_that_has_gone_on_since_is_left_alone(line: Line) -> None:
    (task_id,) = line.submit(RED)
    line.claim()
    before = line.snapshot()

    assert not line.queue.amend(task_id, 0, ending=TaskState.DONE, code="")
    assert not line.queue.amend("nobody", 0, ending=TaskState.DONE, code="")

    assert line.snapshot() == before


def test_any_token_will_do_for_a_caller_that_knows_none(line: Line) -> None:
    task_id, _ = lose_three_workers(line)

    assert line.queue.amend(task_id, None, ending=TaskState.DONE, code="")
    assert not line.queue.amend(task_id, None, ending=TaskState.DONE, code="")
