"""The Procfile: what is read from it and what is refused."""

import sys
from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError
from pipeline.runner.procfile import find_procfile, program_folders, read_procfile


def procfile(folder: Path, text: str) -> Path:
    path = folder / "Procfile"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_procfile_names_the_processes_of_the_design_in_order() -> None:
    assert list(read_procfile(find_procfile())) == ["web", "scheduler", "ocr", "text"]


@pytest.mark.feature("S6")
def test_the_ocr_worker_is_the_plain_dramatiq_command() -> None:
    assert read_procfile(find_procfile())["ocr"][:4] == ("dramatiq", "pipeline.actors", "--queues", "ocr")


def test_comments_and_empty_lines_are_ignored(tmp_path: Path) -> None:
    assert read_procfile(procfile(tmp_path, "# web: no\n\n  \nweb: serve now\n")) == {"web": ("serve", "now")}


def test_quoted_words_stay_together(tmp_path: Path) -> None:
    assert read_procfile(procfile(tmp_path, "a: echo 'two words' x")) == {"a": ("echo", "two words", "x")}


def test_python_is_the_interpreter_that_runs_now(tmp_path: Path) -> None:
    assert read_procfile(procfile(tmp_path, "a: python -m x")) == {"a": (sys.executable, "-m", "x")}


@pytest.mark.parametrize("text", ["web serve", "web:", "a: x\na: y", "a b: x", "a: 'open"])
def test_a_line_that_is_no_process_is_refused_with_its_number(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"Procfile:\d+: "):
        read_procfile(procfile(tmp_path, text))


def test_a_procfile_without_processes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="names no process"):
        read_procfile(procfile(tmp_path, "# nothing\n"))


def test_commands_are_looked_for_beside_the_interpreter_first() -> None:
    assert program_folders()[0] == str(Path(sys.executable).parent)
