"""The rounds of a course on one house, and the table of them at the end of the run."""

from collections.abc import Iterator

import pytest

from tests.faults.harness.course import Course
from tests.faults.harness.table import Round, table

_ROUNDS = pytest.StashKey[list[Round]]()


@pytest.fixture(scope="module")
def rounds(request: pytest.FixtureRequest) -> list[Round]:
    """The rounds of this run."""
    return request.config.stash.setdefault(_ROUNDS, [])


@pytest.fixture(scope="module")
def course(request: pytest.FixtureRequest) -> Iterator[Course]:
    """On the database that the test is given for it."""
    course = Course(on_sqlite=request.param == "SQLite")
    yield course
    course.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the one table."""
    if rounds := config.stash.get(_ROUNDS, []):
        terminalreporter.write_line(f"\n{table(rounds)}\n")
