"""Tables and JSON."""

import json
import sys

import pytest
from rich.text import Text

from pipeline.cli.marks import marked
from pipeline.cli.terminal import open_console, seconds, show_rows, show_table

ROWS = [{"lane": "ocr", "waiting": 1, "text": "a\x1b"}, {"lane": "text", "waiting": 0, "text": "文"}]


def test_a_table_shows_the_columns_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(ROWS, "table", columns=("lane", "waiting"))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in (lines[0], *lines[2:])] == [["lane", "waiting"], ["ocr", "1"], ["text", "0"]]


def test_json_is_one_array_and_jsonl_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(ROWS, "json")
    assert json.loads(capsys.readouterr().out) == ROWS
    show_rows(ROWS, "jsonl")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS


def test_a_table_without_rows_has_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["lane"], [])
    assert capsys.readouterr().out.split()[0] == "lane"


def test_text_from_outside_is_never_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["text"], [["[bold]x[/bold] :smile: \x1b[2J\n\u202e"]])
    assert "[bold]x[/bold] :smile: \N{REPLACEMENT CHARACTER}[2J \N{REPLACEMENT CHARACTER}" in capsys.readouterr().out


@pytest.mark.feature("H6")
def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    open_console().print(Text("red", style="red"))
    assert capsys.readouterr().out == "red\n"


def test_marks_are_seen_without_colours_and_where_they_belong() -> None:
    text = marked("a\x1bloan b", [(2, 6)])
    assert [text.plain[span.start : span.end] for span in text.spans] == ["loan"]
    assert "reverse" in str(text.spans[0].style)


def test_durations_are_spelled_for_people() -> None:
    assert [seconds(ms) for ms in (None, 0, 340, 99_940, 125_000)] == ["", "0.0 s", "0.3 s", "99.9 s", "2 min 5 s"]
