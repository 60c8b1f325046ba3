"""Faults on purpose against everything the Procfile starts, under load: 0 lost, 0 double, every end explained.

Run by `make test-faults`, which prints one table in the end; a fault that left no trace is told there as inconclusive,
and fails its test: nothing has been shown then.
"""

import pytest

from tests.faults.harness.course import Course
from tests.faults.harness.fault import Fault
from tests.faults.harness.scenarios import short_course
from tests.faults.harness.table import Round

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

#: Each fault, with the database of the house in which it strikes.
_ON_EACH = [
    *(("PostgreSQL", fault) for fault in short_course()),
    *(("SQLite", fault) for fault in short_course(on_sqlite=True)),
]


@pytest.mark.feature("R2")
@pytest.mark.feature("R3")
@pytest.mark.feature("Q8")
@pytest.mark.parametrize(
    ("course", "fault"),
    _ON_EACH,
    indirect=["course"],
    ids=[f"{database}-{fault.name.replace(' ', '_')}" for database, fault in _ON_EACH],
)
def test_a_fault_under_load_loses_nothing_and_doubles_nothing(
    course: Course, rounds: list[Round], fault: Fault
) -> None:
    found = course.play(fault)
    rounds.append(found)

    assert found.faults == []
    assert found.trace, "the fault left no trace: nothing was shown"
