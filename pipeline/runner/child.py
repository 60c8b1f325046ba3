"""One child process: in a session of its own, tied to the life of the runner, its output in a log file."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.runner.logs import open_log, tail

_TETHER = str(Path(__file__).with_name("tether.py"))

#: Only Linux sends a signal when a parent dies.
_HAS_DEATH_SIGNAL = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.

    Args:
        name: as in the Procfile; names the log file too.
        environment: the whole environment of the process; kept out of `repr`, it may hold passwords.
        drain_s: seconds it may take to end after SIGTERM before its whole session is killed.
        keep_fds: descriptors that stay open in it.
        prepare: called before each start, to make what the program needs.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    log_file: Path
    drain_s: float
    keep_fds: tuple[int, ...] = ()
    prepare: Callable[[], None] = field(default=lambda: None, repr=False)


class Child:
    """A running program.

    NOTE: Linux sends the death signal when the *thread* that started the child ends. Start children only from a
    thread that lives as long as they may.

    Args:
        has_death_signal: False watches the runner through a pipe, as systems other than Linux need it.
    Raises: OSError when the machine cannot start another process.
    """

    def __init__(self, program: Program, *, has_death_signal: bool = _HAS_DEATH_SIGNAL) -> None:
        self.program = program
        lifeline, self._lifeline_end = (-1, -1) if has_death_signal else os.pipe()
        kept = program.keep_fds if has_death_signal else (*program.keep_fds, lifeline)
        try:
            with open_log(program.log_file) as log:
                self._log_start_bytes = log.tell()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", _TETHER, str(os.getpid()), str(lifeline), *program.command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(program.environment),
                    start_new_session=True,
                    pass_fds=kept,
                )
        except OSError:
            _close(self._lifeline_end)
            raise
        finally:
            _close(lifeline)

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """Return how it ended, a signal as its negative number, or None while it runs.

        Whatever it left behind in its session is killed then: a dead Dramatiq master leaves workers that go on
        consuming.
        """
        was_running = self._process.returncode is None
        code = self._process.poll()
        if was_running and code is not None:
            self.kill()
            _close(self._lifeline_end)
        return code

    def terminate(self) -> None:
        """Ask it to end. Only the process itself is told: Dramatiq and gunicorn tell their own children, and a signal
        that arrives twice makes Dramatiq drop what it is working on.
        """
        self._process.terminate()

    def kill(self) -> None:
        """End it and everything in its session at once."""
        # PermissionError is macOS for "only zombies are left".
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The end of what it wrote."""
        return tail(self.program.log_file, since_bytes=self._log_start_bytes)


def describe_exit(code: int) -> str:
    """Say how a process ended: `exit 2`, `killed by SIGKILL`."""
    if code >= 0:
        return f"exit {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)
