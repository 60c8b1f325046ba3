"""As `test_course.py`, with the ledger in the embedded SQLite: what happens to its writers, and to its file."""

from collections.abc import Iterator

import pytest

from tests.faults.harness.course import Course
from tests.faults.harness.fault import Fault
from tests.faults.harness.scenarios import short_course
from tests.faults.harness.table import Round

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def course() -> Iterator[Course]:
    course = Course(on_sqlite=True)
    yield course
    course.close()


@pytest.mark.feature("R3")
@pytest.mark.parametrize("fault", short_course(on_sqlite=True), ids=lambda fault: fault.name.replace(" ", "_"))
def test_a_fault_under_load_loses_nothing_and_doubles_nothing(
    course: Course, rounds: list[Round], fault: Fault
) -> None:
    found = course.play(fault)
    rounds.append(found)

    assert found.faults == []
    assert found.trace, "the fault left no trace: nothing was shown"
