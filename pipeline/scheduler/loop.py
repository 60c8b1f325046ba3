"""The scheduler's loop: a list of duties, each done when its time has come; it sleeps until the next thing is due."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import models.base
from pipeline.clock import Clock
from pipeline.errors import Retryable

log = logging.getLogger(__name__)

#: Between two rounds at least, seconds: however much falls due, one scheduler does a hundred rounds a second at most.
_PAUSE_S = 0.01


@dataclass(slots=True)
class Duty:
    """Something to do again and again.

    Args:
        name: for the log.
        period_ms: between two rounds; 0 for every tick.
        run: does one bounded round.
    """

    name: str
    period_ms: int
    run: Callable[[], object]
    due_ms: int = 0
    is_failing: bool = False


class Loop:
    """Runs duties until it is stopped; a duty that cannot reach a server is tried again and disturbs no other.

    Args:
        tick_s: seconds between two rounds, at most.
        next_due_ms: in how many ms something falls due, or None: a round is done then, if that is sooner.
    """

    def __init__(
        self,
        duties: Sequence[Duty],
        clock: Clock,
        *,
        tick_s: float,
        next_due_ms: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._duties = duties
        self._clock = clock
        self._tick_s = tick_s
        self._next_due_ms = next_due_ms
        self._stopped = threading.Event()
        self._woken = threading.Event()

    def run(self) -> None:
        """Return once `stop` was called and the round under way is over."""
        while not self._stopped.is_set():
            # Before the round: whoever wakes us during it may have come too late for it.
            self._woken.clear()
            self.tick()
            if not self._stopped.wait(_PAUSE_S):
                self._woken.wait(self._rest_s())

    def wake(self) -> None:
        """Do a round now, or once more when one is under way."""
        self._woken.set()

    def tick(self) -> None:
        """Do every duty that is due, once."""
        for duty in self._duties:
            now_ms = self._clock.monotonic_ms()
            if now_ms >= duty.due_ms and not self._stopped.is_set():
                duty.due_ms = now_ms + duty.period_ms
                self._do(duty)

    def stop(self) -> None:
        self._stopped.set()
        self._woken.set()

    def _rest_s(self) -> float:
        # What a failing duty has left undone stays due: it must not turn the loop into a whirl.
        if any(duty.is_failing for duty in self._duties):
            return self._tick_s
        try:
            due_ms = self._next_due_ms()
        except Retryable:
            return self._tick_s
        return self._tick_s if due_ms is None else min(self._tick_s, due_ms / 1000)

    def _do(self, duty: Duty) -> None:
        try:
            with models.base.connection():
                duty.run()
        except Retryable as exc:
            if not duty.is_failing:
                log.warning("%s: will be tried again: %s", duty.name, exc)
            duty.is_failing = True
        except Exception:
            # A bug, or what no fairlane wrote: the other duties go on, and so does the house.
            if not duty.is_failing:
                log.exception("%s: will be tried again", duty.name)
            duty.is_failing = True
        else:
            if duty.is_failing:
                log.info("%s: works again", duty.name)
            duty.is_failing = False
