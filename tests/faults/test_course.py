"""Faults on purpose against everything the Procfile starts, under load: 0 lost, 0 double, every end explained.

Run by `make test-faults`, which prints one table in the end; a fault that left no trace is told there as inconclusive,
and fails its test: nothing has been shown then.
"""

from collections.abc import Iterator

import pytest

from tests.faults.harness.course import Course
from tests.faults.harness.fault import Fault
from tests.faults.harness.scenarios import short_course
from tests.faults.harness.table import Round, table

pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def rounds() -> list[Round]:
    """The rounds of this run."""
    return []


@pytest.fixture(scope="module")
def course(rounds: list[Round], request: pytest.FixtureRequest) -> Iterator[Course]:
    course = Course()
    yield course
    course.close()
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and rounds:
        reporter.write_line(f"\n\n{table(rounds)}")


@pytest.mark.feature("R2")
@pytest.mark.feature("Q8")
@pytest.mark.parametrize("fault", short_course(), ids=lambda fault: fault.name.replace(" ", "_"))
def test_a_fault_under_load_loses_nothing_and_doubles_nothing(
    course: Course, rounds: list[Round], fault: Fault
) -> None:
    found = course.play(fault)
    rounds.append(found)

    assert found.faults == []
    assert found.trace, "the fault left no trace: nothing was shown"
