"""The command itself: help, codes, and what an error looks like."""

import click
import pytest

import pipeline.cli
from pipeline.cli import run
from pipeline.errors import QueueUnavailable
from tools.command_tree import leaves


def failing_with(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("audit", callback=fail)


def break_audit(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    command = failing_with(error)
    monkeypatch.setattr(pipeline.cli._LazyGroup, "get_command", lambda *_: command)


@pytest.mark.feature("H6")
@pytest.mark.parametrize("command", [*pipeline.cli._COMMANDS])
def test_every_command_is_listed_and_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert f"  {command} " in capsys.readouterr().out
    assert run([command, "--help"]) == 0
    assert f"Usage: fairlane {command}" in capsys.readouterr().out


#: Those that print no data: what they print goes on, is a script, or is JSON anyway.
NO_DATA = {"demo", "up", "completion", "words export"}


@pytest.mark.feature("H6")
@pytest.mark.parametrize(("name", "command"), [*leaves()], ids=lambda value: str(value))
def test_every_command_that_prints_data_prints_it_as_table_json_or_jsonl(name: str, command: click.Command) -> None:
    choices = [
        list(one.type.choices) for one in command.params if "-o" in one.opts and isinstance(one.type, click.Choice)
    ]

    assert choices == ([] if name in NO_DATA else [["table", "json", "jsonl"]])
    assert command.get_short_help_str(), "it says what it is for"


def test_another_name_runs_the_same_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["top", "--help"]) == 0
    assert "Watch lanes" in capsys.readouterr().out


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run(["no-such-command"]) == 2


def test_an_error_is_one_line_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_audit(monkeypatch, QueueUnavailable("no answer"))
    assert run(["audit"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fairlane: no answer")
    assert err.count("\n") == 1


def test_a_bug_is_one_line_too_unless_asked_for_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_audit(monkeypatch, ZeroDivisionError("by zero"))
    assert run(["audit"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert run(["--debug", "audit"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupted_command_ends_as_a_shell_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    break_audit(monkeypatch, KeyboardInterrupt())
    assert run(["audit"]) == 130


def test_main_exits_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        pipeline.cli.main(["no-such-command"])
    assert ended.value.code == 2


def test_a_wrong_setting_is_named_and_nothing_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIRLANE_LEASE_SECOND", "5")
    assert run(["audit"]) == 2
    assert "FAIRLANE_LEASE_SECOND: unknown setting; the nearest known one is FAIRLANE_LEASE_SECONDS" in (
        capsys.readouterr().err
    )
