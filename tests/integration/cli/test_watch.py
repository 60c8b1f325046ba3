"""`fairlane watch`: in place on a terminal, look below look elsewhere, until somebody has seen enough."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pipeline.cli import run
from pipeline.cli.overview import Sight
from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable
from pipeline.queue import Task, open_queue
from pipeline.queue.types import DeviceRules
from tests.support.processes import wait_until
from tests.support.sound import Sound

pytestmark = pytest.mark.feature("H6")

LONG, SHORT = "02aabbccddee", "02aabbccddff"


def put_in_line(sound: Sound) -> None:
    queue, now_ms = open_queue(sound.settings), SystemClock().now_ms()
    queue.enqueue(Task("t1", "text", LONG, now_ms - 60_000))
    queue.enqueue(Task("t2", "ocr", SHORT, now_ms - 5_000))
    queue.enqueue(Task("t3", "ocr", SHORT, now_ms))


def _own_terminal() -> None:
    """Make the terminal the child's own, in which Ctrl-C interrupts it even if the tests run in the background."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A terminal with `fairlane watch` in it."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self._master, self.process = master, process
        self.seen = b""

    def shows(self, words: bytes, times: int = 1) -> bool:
        """Read what is there; say whether it has shown the words so often by now."""
        try:
            self.seen += os.read(self._master, 65536)
        except BlockingIOError:
            pass
        except OSError:  # its end, on Linux
            return self.seen.count(words) >= times
        return self.seen.count(words) >= times

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def modes(self) -> Any:
        return termios.tcgetattr(self._master)


@contextmanager
def watched(*options: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    termios.tcsetwinsize(master, (40, 150))
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "watch", *options],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_own_terminal,
    )
    terminal = Terminal(master, process)
    try:
        yield terminal
    finally:
        process.kill()
        process.wait(10)
        os.close(slave)
        os.close(master)


def test_the_lines_that_wait_longest_come_first(sound: Sound, capsys: pytest.CaptureFixture[str]) -> None:
    put_in_line(sound)
    open_queue(sound.settings).set_device(LONG, DeviceRules(is_paused=True))

    assert run(["watch", "--count", "1", "-o", "json"]) == 0

    look = json.loads(capsys.readouterr().out)
    lines = [(line["mac"], line["lane"], line["waiting"], line["is_paused"]) for line in look["devices"]]
    assert lines == [(LONG, "text", 1, True), (SHORT, "ocr", 2, False)]
    assert 60_000 <= look["devices"][0]["oldest_wait_ms"] < 70_000
    assert [worker["hostname"] for worker in look["workers"]] == ["h"]
    assert [lane["expected_wait_ms"] is None for lane in look["lanes"]] == [False, False, False]


def test_without_a_terminal_each_look_is_printed_below_the_last(
    sound: Sound, capsys: pytest.CaptureFixture[str]
) -> None:
    put_in_line(sound)

    assert run(["top", "--count", "2", "--interval", "0.2"]) == 0

    out = capsys.readouterr().out
    assert out.count("drains in") == 2
    assert out.count(LONG) == 2
    assert "\x1b" not in out


def test_jsonl_is_one_look_a_line(sound: Sound, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch", "--count", "2", "--interval", "0.2", "-o", "jsonl"]) == 0

    looks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert looks[1]["time_ms"] >= looks[0]["time_ms"] + 200


@pytest.mark.parametrize("is_json", [True, False])
def test_a_look_that_fails_does_not_end_the_watch(
    sound: Sound, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, is_json: bool
) -> None:
    true_lanes, looks = Sight.lanes, iter(range(9))

    def lanes(self: Sight) -> Any:
        if next(looks) == 1:
            raise QueueUnavailable("gone for a moment")
        return true_lanes(self)

    monkeypatch.setattr(Sight, "lanes", lanes)

    assert run(["watch", "--count", "3", "--interval", "0.2", *(["-o", "jsonl"] if is_json else [])]) == 0

    out, err = capsys.readouterr()
    assert "gone for a moment" in (err if is_json else out)
    assert out.count('"time_ms"' if is_json else "drains in") == (2 if is_json else 3)


def test_where_nothing_answers_there_is_nothing_to_watch(sound: Sound) -> None:
    sound.set(redis_url="unix:///nowhere/valkey.sock")

    assert run(["watch"]) == 4


@pytest.mark.parametrize("ending", [b"q", b"\x03", b"\x04", signal.SIGTERM])
def test_on_a_terminal_it_is_refreshed_in_place_and_leaves_it_as_it_was(sound: Sound, ending: Any) -> None:
    put_in_line(sound)
    with watched("--interval", "0.2") as terminal:
        before = terminal.modes()
        wait_until(lambda: terminal.shows(b"q quits", times=2))
        assert terminal.modes() != before
        if isinstance(ending, bytes):
            terminal.type(ending)
        else:
            terminal.process.send_signal(ending)
        wait_until(lambda: terminal.shows(b"\x1b[?1049l") and terminal.process.poll() is not None)

        assert terminal.process.returncode == 0
        assert terminal.modes() == before
        assert b"\x1b[?1049h" in terminal.seen
        assert LONG.encode() in terminal.seen
