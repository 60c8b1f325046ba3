"""The scheduler's loop: a list of duties, each done when its time has come."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import models.base
from pipeline.clock import Clock
from pipeline.errors import Retryable

log = logging.getLogger(__name__)


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
    run: Callable[[], None]
    due_ms: int = 0
    is_failing: bool = False


class Loop:
    """Runs duties until it is stopped; a duty that cannot reach a server is tried again and disturbs no other.

    Args:
        tick_s: seconds between two rounds.
    """

    def __init__(self, duties: Sequence[Duty], clock: Clock, *, tick_s: float) -> None:
        self._duties = duties
        self._clock = clock
        self._tick_s = tick_s
        self._stopped = threading.Event()

    def run(self) -> None:
        """Return once `stop` was called and the round under way is over."""
        while not self._stopped.is_set():
            self.tick()
            self._stopped.wait(self._tick_s)

    def tick(self) -> None:
        """Do every duty that is due, once."""
        for duty in self._duties:
            now_ms = self._clock.monotonic_ms()
            if now_ms >= duty.due_ms and not self._stopped.is_set():
                duty.due_ms = now_ms + duty.period_ms
                self._do(duty)

    def stop(self) -> None:
        self._stopped.set()

    def _do(self, duty: Duty) -> None:
        try:
            with models.base.connection():
                duty.run()
        except Retryable as exc:
            if not duty.is_failing:
                log.warning("%s: will be tried again: %s", duty.name, exc)
            duty.is_failing = True
        else:
            if duty.is_failing:
                log.info("%s: works again", duty.name)
            duty.is_failing = False
