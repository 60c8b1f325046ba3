"""Keeps programs running: a dead one is started again, alone, after a pause that grows while it keeps dying."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from pipeline.clock import Clock
from pipeline.errors import ConfigurationError
from pipeline.runner.child import Child, Program, describe_exit

#: The pause before the first restart, milliseconds; doubled for each further one.
FIRST_PAUSE_MS = 500

#: The longest pause, milliseconds.
LONGEST_PAUSE_MS = 30_000

#: A process that lived this long was well; its next pause is the first one again. Milliseconds.
STEADY_MS = 30_000

#: How often the processes are looked at, seconds.
_TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Event:
    """Something an operator wants to know about one process."""

    name: str
    kind: Literal["started", "ended", "stopped", "killed"]
    detail: str


def pause_ms(failures: int) -> int:
    """How long to wait before restart number `failures` (1, 2, ...) of a process that keeps dying."""
    return min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << min(failures - 1, 16))


class _Watched:
    """A program, its child if there is one, and what has become of it."""

    def __init__(self, program: Program, due_ms: int) -> None:
        self.program = program
        self.child: Child | None = None
        self.is_wanted = True
        self.started_ms = 0
        self.due_ms = due_ms
        self.failures = 0
        self.last_exit: int | None = None
        self.last_words = ""


class Supervisor:
    """Runs any number of programs until `close`; all methods may be called from any thread.

    Args:
        tell: called with each event, from the watching thread or the one that stops.
    """

    def __init__(self, clock: Clock, tell: Callable[[Event], None]) -> None:
        self._clock = clock
        self._tell = tell
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.RLock()
        self._closing = threading.Event()
        # Children are started by this thread only, because they are tied to its life; see Child.
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._thread.start()

    def start(self, program: Program) -> None:
        """Have a program run from now on."""
        with self._lock:
            self._watched[program.name] = _Watched(program, self._clock.monotonic_ms())

    def pid(self, name: str) -> int | None:
        with self._lock:
            child = self._watched[name].child
            return child.pid if child else None

    def raise_if_hopeless(self, *, failures: int) -> None:
        """Raise ConfigurationError, with the end of its log, if a process refused its configuration or keeps dying.

        Args:
            failures: how many deaths in a row are too many.
        """
        with self._lock:
            for watched in self._watched.values():
                # ConfigurationError ends a process with 2 in every process of ours; trying again cannot help.
                if watched.failures and (watched.last_exit == 2 or watched.failures >= failures):
                    how = "" if watched.last_exit is None else f" ({describe_exit(watched.last_exit)})"
                    words = "\n".join("  " + line for line in watched.last_words.splitlines())
                    log = watched.program.log_file
                    raise ConfigurationError(f"{watched.program.name} does not start{how}; from {log}:\n{words}")

    def stop(self, names: Iterable[str]) -> None:
        """Ask some programs to end, all at once, and wait; whoever takes longer than its `drain_s` is killed."""
        begin_ms = self._clock.monotonic_ms()
        with self._lock:
            leaving = [self._watched[name] for name in names if name in self._watched]
            for watched in leaving:
                watched.is_wanted = False
                if watched.child:
                    watched.child.terminate()
        while any(watched.child for watched in leaving):
            self._closing.wait(_TICK_S)
            with self._lock:
                waited_s = (self._clock.monotonic_ms() - begin_ms) / 1000
                self._kill([watched for watched in leaving if waited_s > watched.program.drain_s])

    def kill(self) -> None:
        """End every program at once; safe to call from a signal handler while another call is waiting."""
        with self._lock:
            for watched in self._watched.values():
                watched.is_wanted = False
            self._kill(list(self._watched.values()))

    def close(self) -> None:
        """Kill what still runs, then end the watching."""
        self.kill()
        self.stop(list(self._watched))
        self._closing.set()
        self._thread.join()

    def _kill(self, watched_ones: list[_Watched]) -> None:
        for watched in watched_ones:
            if watched.child:
                watched.child.kill()

    def _watch(self) -> None:
        while not self._closing.wait(_TICK_S):
            events: list[Event] = []
            with self._lock:
                for watched in self._watched.values():
                    events += self._look_at(watched)
            for event in events:
                self._tell(event)

    def _look_at(self, watched: _Watched) -> list[Event]:
        if watched.child:
            code = watched.child.exit_code()
            return [] if code is None else [self._note_exit(watched, watched.child, code)]
        if watched.is_wanted and self._clock.monotonic_ms() >= watched.due_ms:
            return [self._try_to_start(watched)]
        return []

    def _try_to_start(self, watched: _Watched) -> Event:
        name = watched.program.name
        watched.started_ms = self._clock.monotonic_ms()
        try:
            watched.program.prepare()
            watched.child = Child(watched.program)
        except (OSError, ConfigurationError) as exc:
            watched.last_exit, watched.last_words = None, str(exc)
            return Event(name, "ended", f"cannot be started: {exc}; {self._schedule_restart(watched)}")
        return Event(name, "started", f"pid {watched.child.pid}")

    def _note_exit(self, watched: _Watched, child: Child, code: int) -> Event:
        name, how = watched.program.name, describe_exit(code)
        watched.child = None
        if not watched.is_wanted:
            return Event(name, "killed" if code == -9 else "stopped", how)
        watched.last_exit, watched.last_words = code, child.last_words()
        return Event(name, "ended", f"{how}; {self._schedule_restart(watched)}")

    def _schedule_restart(self, watched: _Watched) -> str:
        now_ms = self._clock.monotonic_ms()
        if now_ms - watched.started_ms >= STEADY_MS:
            watched.failures = 0
        watched.failures += 1
        watched.due_ms = now_ms + pause_ms(watched.failures)
        return f"starts again in {pause_ms(watched.failures) / 1000:g} s"
