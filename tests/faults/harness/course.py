"""A course: round after round on one house, until all are played; a house that does not recover is built anew."""

import subprocess
from itertools import count

import psutil
import redis

from pipeline.clock import SystemClock
from pipeline.errors import FairlaneError
from tests.faults.harness.books import BROKEN
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House
from tests.faults.harness.load import Load
from tests.faults.harness.rounds import DRAIN_LIMIT_S, play
from tests.faults.harness.table import Round

#: Tasks a second: a third of what two cores do that have other work, too.
RATE = 15.0
#: How a round may break off: something did not come true, or did not answer.
_BROKEN = (
    AssertionError,
    FairlaneError,
    OSError,
    *BROKEN,
    redis.RedisError,
    psutil.Error,
    subprocess.SubprocessError,
)


class Course:
    """Plays rounds, each on the house of the last one if that is well.

    Args:
        lease_s: as in `House`.
        rate: tasks a second.
        patience_s: as in `play`.
        on_sqlite: as in `House`.
    """

    def __init__(
        self, lease_s: int = 6, rate: float = RATE, patience_s: float = DRAIN_LIMIT_S, *, on_sqlite: bool = False
    ) -> None:
        self._on_sqlite = on_sqlite
        self._lease_s, self._rate, self._patience_s = lease_s, rate, patience_s
        self._house: House | None = None
        self._numbers = count(1)
        self._clock = SystemClock()
        self._mark = f"f{self._clock.now_ms():x}"

    def play(self, fault: Fault) -> Round:
        """One round; one that could not be played to its end is red, and tells why."""
        began_ms = self._clock.monotonic_ms()
        try:
            house = self._house = self._house or self._built()
            house.servers.tidy()
            prefix = f"{self._mark}-{next(self._numbers)}-"
            found = play(house, Load(lambda: house.web, self._rate), fault, prefix, self._patience_s)
        except _BROKEN as exc:
            found = Round.broken_off(fault.name, fault.kind, repr(exc))
        found.took_s = round((self._clock.monotonic_ms() - began_ms) / 1000, 1)
        if found.is_red:
            self.close()
        return found

    def close(self) -> None:
        if self._house:
            self._house.stop()
            self._house = None

    def _built(self) -> House:
        house = House(self._lease_s, on_sqlite=self._on_sqlite)
        try:
            house.start()
        except BaseException:
            house.stop()
            raise
        return house
