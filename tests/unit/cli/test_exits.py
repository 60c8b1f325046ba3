"""Exit codes and messages."""

import pytest

from pipeline import errors
from pipeline.cli.exits import exit_code_of, message_of


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BadImage("x"), 1),
        (errors.LeaseLost("x"), 1),
        (errors.ConfigurationError("x"), 2),
        (errors.AlreadyRunning("x"), 2),
        (errors.TaskNotFound("x"), 3),
        (errors.QueueUnavailable("x"), 4),
        (errors.DatabaseUnavailable("x"), 4),
        (errors.DeviceBacklogFull("x", retry_after_ms=1_000), 5),
        (errors.QueueFull("x", retry_after_ms=1_000), 5),
        (ZeroDivisionError("x"), 1),
    ],
)
@pytest.mark.feature("H6")
def test_each_branch_of_the_error_tree_has_its_exit_code(error: Exception, code: int) -> None:
    assert exit_code_of(error) == code


def test_an_unreachable_queue_says_where_to_look() -> None:
    assert message_of(errors.QueueUnavailable("no answer")).startswith("no answer; is fairlane running?")


def test_a_message_cannot_command_the_terminal() -> None:
    assert "\x1b" not in message_of(errors.BadImage("\x1b[2J"))


def test_a_bug_is_named_as_such() -> None:
    assert message_of(ZeroDivisionError("by zero")).startswith("unexpected ZeroDivisionError: by zero")
