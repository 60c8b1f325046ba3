"""Progress is for people: on a terminal, and nowhere else."""

import sys

import pytest

from pipeline.cli.progress import bar_of, count_of

pytestmark = pytest.mark.feature("H6")


def work() -> None:
    with bar_of("sending", 3) as advance:
        advance(2)
    with count_of("words:") as tell:
        tell(7)


def test_what_is_piped_or_logged_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    work()

    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_how_far_it_is_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    work()

    out, err = capsys.readouterr()
    assert out == ""
    assert "2/3" in err
    assert "words: 7" in err
