"""Log files: rotation, their last lines, and following them."""

from pathlib import Path

import pytest

from pipeline.runner import logs
from pipeline.runner.logs import LogFollower, open_log, tail


def append(path: Path, text: str) -> None:
    with open_log(path) as log:
        log.write(text.encode())


def test_a_log_is_appended_to(tmp_path: Path) -> None:
    append(tmp_path / "log" / "web.log", "one\n")
    append(tmp_path / "log" / "web.log", "two\n")
    assert (tmp_path / "log" / "web.log").read_text() == "one\ntwo\n"


def test_a_log_that_has_grown_too_long_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "ROTATE_BYTES", 3)
    append(tmp_path / "web.log", "long\n")
    append(tmp_path / "web.log", "new\n")
    assert (tmp_path / "web.log").read_text() == "new\n"
    assert (tmp_path / "web.log.1").read_text() == "long\n"


def test_tail_gives_the_last_lines_only(tmp_path: Path) -> None:
    append(tmp_path / "web.log", "".join(f"{n}\n" for n in range(100_000)))
    assert tail(tmp_path / "web.log", lines=2) == "99998\n99999"


def test_tail_leaves_out_what_an_earlier_run_wrote(tmp_path: Path) -> None:
    append(tmp_path / "web.log", "old\nnew\n")
    assert tail(tmp_path / "web.log", since_bytes=4) == "new"


def test_tail_of_a_missing_log_is_empty(tmp_path: Path) -> None:
    assert tail(tmp_path / "none.log") == ""


def test_a_follower_passes_on_whole_lines_written_after_its_start(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    append(tmp_path / "web.log", "before\n")
    follower = LogFollower({"web": tmp_path / "web.log", "ocr": tmp_path / "ocr.log"}, lambda *line: seen.append(line))
    follower.start()
    append(tmp_path / "web.log", "one\ntw")
    append(tmp_path / "web.log", "o\nunfinished")
    append(tmp_path / "ocr.log", "three\n")
    follower.stop()
    assert sorted(seen) == [("ocr", "three"), ("web", "one"), ("web", "two")]


def test_a_follower_goes_on_in_the_new_file_after_a_rotation(tmp_path: Path) -> None:
    source = logs._Source("web", tmp_path / "web.log")
    append(tmp_path / "web.log", "one\n")
    assert source.new_lines() == ["one"]
    (tmp_path / "web.log").rename(tmp_path / "web.log.1")
    append(tmp_path / "web.log", "two\n")
    lines = [line for _ in range(3) for line in source.new_lines()]
    source.close()
    assert lines == ["two"]
