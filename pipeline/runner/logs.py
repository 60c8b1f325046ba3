"""The log files of the child processes: written by the children themselves, read back here.

Children write to files and not into pipes of the runner, so that neither a slow terminal nor the death of the runner
can stop one of them.
"""

import io
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

#: A log longer than this is set aside, as `<name>.log.1`, when its process next starts; bytes.
ROTATE_BYTES = 10_000_000

#: How much of a log is read to find its last lines; bytes.
_TAIL_BYTES = 16_384

#: How much is taken from one log in one go, so that one talkative process cannot hold the others back; bytes.
_READ_BYTES = 65_536

_FOLLOW_INTERVAL_S = 0.1


def open_log(path: Path) -> BinaryIO:
    """Open a log for appending; one that has grown too long is set aside first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > ROTATE_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    log = path.open("ab")
    log.seek(0, io.SEEK_END)
    return log


def tail(path: Path, *, since_bytes: int = 0, lines: int = 15) -> str:
    """Return the last lines of a log, at most `lines`, of what was written after `since_bytes`."""
    try:
        with path.open("rb") as log:
            end = log.seek(0, io.SEEK_END)
            log.seek(max(since_bytes, end - _TAIL_BYTES))
            text = log.read(_TAIL_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


class LogFollower:
    """Passes every line written to some logs after `start` to `write`, from a thread of its own.

    Args:
        logs: name of the process -> its log file, which may not exist yet.
        write: called with the name and one line, without its end.
    """

    def __init__(self, logs: Mapping[str, Path], write: Callable[[str, str], None]) -> None:
        self._sources = [_Source(name, path) for name, path in logs.items()]
        self._write = write
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="log-follower", daemon=True)

    def start(self) -> None:
        for source in self._sources:
            source.skip_to_end()
        self._thread.start()

    def stop(self) -> None:
        """Pass on what has been written until now, then end."""
        self._stopping.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._stopping.wait(_FOLLOW_INTERVAL_S):
            self._pass_on()
        while self._pass_on():
            pass
        for source in self._sources:
            source.close()

    def _pass_on(self) -> bool:
        has_any = False
        for source in self._sources:
            for line in source.new_lines():
                has_any = True
                self._write(source.name, line)
        return has_any


class _Source:
    """One log, read on from where the last reading ended, through a change of file."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._file: BinaryIO | None = None
        self._rest = b""

    def skip_to_end(self) -> None:
        self._file = self._open()
        if self._file:
            self._file.seek(0, io.SEEK_END)

    def new_lines(self) -> list[str]:
        if self._file is None:
            self._file = self._open()
        if self._file is None:
            return []
        data = self._file.read(_READ_BYTES)
        if not data and self._is_replaced(self._file):
            self._file.close()
            self._file = None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode("utf-8", errors="replace") for line in lines]

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _open(self) -> BinaryIO | None:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            return None

    def _is_replaced(self, file: BinaryIO) -> bool:
        try:
            return not os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return True
