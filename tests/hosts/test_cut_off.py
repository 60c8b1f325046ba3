"""A host that is cut off in the middle of its work: the others take over, and what it finishes late changes nothing."""

import pytest

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
