"""A host that is cut off in the middle of its work: the others take over, and what it finishes late changes nothing."""

import threading

import pytest

from tests.faults.harness.books import book_of
from tests.faults.harness.journal import EFFECTS, Journal
from tests.hosts.conftest import Fleet
from tests.support.processes import wait_until


@pytest.mark.hosts
@pytest.mark.feature("Q7")
@pytest.mark.feature("Q8")
def test_work_of_a_host_that_is_cut_off_is_done_by_the_other_and_ends_once(fleet: Fleet) -> None:
    task_ids = fleet.submit_many(6, b"take two seconds")
    wait_until(lambda: sum(fleet.state_of(task_id) == "running" for task_id in task_ids) == 2)

    fleet.hosts["a"].cut_off()

    wait_until(lambda: fleet.are_done(task_ids), 90)
    wait_until(lambda: set(fleet.workers()) == {"b"})
    fleet.assert_books_balance()
    assert fleet.ended_by("b") >= {task_id for task_id in task_ids if fleet.attempts_of(task_id) > 1}
    assert sum(fleet.attempts_of(task_id) > 1 for task_id in task_ids) <= 1

    fleet.hosts["a"].reconnect()

    wait_until(lambda: set(fleet.workers()) == {"a", "b"}, 60)
    more = fleet.submit_many(8, b"take two seconds")
    wait_until(lambda: fleet.are_done(more), 90)
    assert fleet.ended_by("a") & set(more), "the host that is back does nothing"
    fleet.assert_books_balance()


@pytest.mark.hosts
@pytest.mark.feature("Q7")
@pytest.mark.feature("R2")
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("seconds", "is_one_way"), [(5, False), (30, False), (120, False), (5, True), (30, True)], ids=str
)
def test_a_cut_of_any_length_and_of_one_way_loses_nothing_and_doubles_nothing(
    fleet: Fleet, seconds: int, is_one_way: bool
) -> None:
    """One way: what the host says reaches the servers, which act on it, and no answer comes back."""
    journal, host = Journal(book_of(fleet.settings.database_url)), fleet.hosts["a"]
    task_ids = fleet.submit_many(12, b"take two seconds")
    wait_until(lambda: sum(fleet.state_of(task_id) == "running" for task_id in task_ids) == 2)

    (host.deafen if is_one_way else host.cut_off)()
    threading.Event().wait(seconds / 2)
    task_ids += fleet.submit_many(4, b"take a fifth")
    threading.Event().wait(seconds / 2)
    (host.undeafen if is_one_way else host.reconnect)()
    task_ids += fleet.submit_many(8, b"take two seconds")

    wait_until(lambda: fleet.are_done(task_ids), 120)
    wait_until(lambda: set(fleet.workers()) == {"a", "b"}, 60)
    counts = journal.counts("")
    assert {what: set(counts[what].values()) for what in EFFECTS} == {what: {1} for what in EFFECTS}
    assert all(set(counts[what]) == set(task_ids) for what in EFFECTS)
    assert set(counts) <= {*EFFECTS, "started"}, "an end was changed, or a token went back"
    fleet.assert_books_balance()
    journal.close()
