"""Shells complete commands, options and values."""

import subprocess

import pytest

from pipeline.cli import run

pytestmark = pytest.mark.feature("H6")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_needs_is_printed_with_how_to_take_it_in(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0

    out = capsys.readouterr().out
    assert f"fairlane completion {shell}" in out.splitlines()[0]
    assert f"{shell}_complete" in out


def test_another_shell_is_a_usage_error() -> None:
    assert run(["completion", "csh"]) == 2


def test_bash_takes_it_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "bash"]) == 0

    script = capsys.readouterr().out + "\ncomplete -p fairlane"
    bash = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)

    assert bash.stdout.strip().endswith("fairlane")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("fairlane dea", {"dead-letter"}),
        ("fairlane dead-letter re", {"replay"}),
        ("fairlane status -o js", {"json", "jsonl"}),
        ("fairlane key create x --role a", {"admin"}),
        ("fairlane watch --inter", {"--interval"}),
    ],
)
def test_words_are_completed(
    line: str, offered: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_FAIRLANE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))

    with pytest.raises(SystemExit):
        run([])

    assert {row.partition(",")[2] for row in capsys.readouterr().out.splitlines()} == offered
