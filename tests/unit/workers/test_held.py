"""Notes of what processes hold: the living keep theirs, what the dead held is told once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.queue import Claim
from pipeline.workers.held import HeldNote, settle

_WRITER = """
import sys, threading
from pathlib import Path
from pipeline.queue import Claim
from pipeline.workers.held import HeldNote
note = HeldNote(Path(sys.argv[1]))
note.open()
note.write([Claim(task_id, "text", "", "", int(token), 0) for task_id, token in zip(sys.argv[2::2], sys.argv[3::2])])
print("noted", flush=True)
threading.Event().wait(60)
"""


def claim(task_id: str, token: int) -> Claim:
    return Claim(task_id, "text", "aabbccddeeff", "local", token, 0)


@contextmanager
def writer(folder: Path, *held: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has noted what it holds."""
    command = [sys.executable, "-c", _WRITER, str(folder), *held]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "noted\n"
        try:
            yield process
        finally:
            process.kill()


def settled(folder: Path) -> list[tuple[str, int]]:
    given_up: list[tuple[str, int]] = []
    settle(folder, lambda task_id, token: given_up.append((task_id, token)))
    return given_up


@pytest.mark.feature("Q8")
def test_what_a_killed_process_held_is_told_once(tmp_path: Path) -> None:
    with writer(tmp_path, "a", "7", "b", "8") as process:
        process.kill()

    assert settled(tmp_path) == [("a", 7), ("b", 8)]
    assert settled(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.feature("Q8")
def test_a_frozen_process_keeps_what_it_holds(tmp_path: Path) -> None:
    with writer(tmp_path, "a", "7") as process:
        process.send_signal(signal.SIGSTOP)
        assert settled(tmp_path) == []


def test_a_note_says_what_is_held_now(tmp_path: Path) -> None:
    note = HeldNote(tmp_path)
    note.open()
    (path,) = tmp_path.iterdir()

    note.write([claim("a", 7), claim("b", 8)])
    note.write([claim("b", 8)])

    assert path.read_text() == "b 8\n"
    assert settled(tmp_path) == []
    note.close()
    assert list(tmp_path.iterdir()) == []


def test_a_note_stays_when_nobody_can_be_told(tmp_path: Path) -> None:
    with writer(tmp_path, "a", "7") as process:
        process.kill()

    def refuse(task_id: str, token: int) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        settle(tmp_path, refuse)
    assert settled(tmp_path) == [("a", 7)]


@pytest.mark.parametrize("damage", [b"\xff\xfe\n", b"a\n", b"a 7x\n", b"a \xd9\xa1\n", b"\0\n", b"\n", b""])
def test_a_damaged_line_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "1-dead.held").write_bytes(damage + b"b 8\n")

    assert settled(tmp_path) == [("b", 8)]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_note_is_passed_over(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("a 7\n")
    (tmp_path / "1.held").symlink_to(target)
    (tmp_path / "2.held").mkdir()
    (tmp_path / "3-dead.held").write_text("b 8\n")

    assert settled(tmp_path) == [("b", 8)]
    assert target.read_text() == "a 7\n"


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert settled(tmp_path / "none") == []


def test_a_child_does_not_keep_the_note_of_its_parent_alive(tmp_path: Path) -> None:
    note = HeldNote(tmp_path)
    note.open()
    assert note._descriptor is not None
    assert not os.get_inheritable(note._descriptor)
    note.close()
