"""Long polls: a request that is not answered yet, but asked again, so that it holds neither a thread nor a connection
to the database in between. What is said here to `web.whole_requests` stands in the environ.
"""

from collections import Counter
from collections.abc import Callable, MutableMapping
from threading import Lock
from typing import Any

from pipeline.clock import Clock

#: Set while a request is not to be answered yet: seconds after which the application is to be called again.
AGAIN_S = "fairlane.again_s"
#: The waiting room of the server; without one nobody waits.
ROOM = "fairlane.waiting_room"

_SEAT, _ENDS_MS, _LOOK_S = "fairlane.seat", "fairlane.poll_ends_ms", "fairlane.poll_look_s"

#: Seconds between two looks at a task that somebody waits for: short at first, when most of them end.
_FIRST_LOOK_S = 0.1
_LONGEST_LOOK_S = 1.0


class WaitingRoom:
    """Seats for those who wait, some of them for each address.

    Args:
        seats, seats_per_address: requests that may wait at once.
    """

    def __init__(self, seats: int, seats_per_address: int) -> None:
        self._seats, self._seats_per_address = seats, seats_per_address
        self._taken: Counter[str] = Counter()
        self._lock = Lock()
        self.is_closing: Callable[[], bool] = lambda: False

    def enter(self, environ: MutableMapping[str, Any]) -> bool:
        """Whether the request has a seat, from now on if not before."""
        if self.is_closing():
            return False
        address = environ.get("REMOTE_ADDR", "")
        with self._lock:
            if _SEAT in environ:
                return True
            if self._taken.total() >= self._seats or self._taken[address] >= self._seats_per_address:
                return False
            self._taken[address] += 1
        environ[_SEAT] = address
        return True

    def leave(self, environ: MutableMapping[str, Any]) -> None:
        """Give the seat back, if the request has one."""
        address = environ.pop(_SEAT, None)
        if address is not None:
            with self._lock:
                self._taken -= Counter({address: 1})  # which forgets addresses without a seat


def is_held_back(environ: MutableMapping[str, Any], clock: Clock, wait_s: int) -> bool:
    """Whether the server will ask again, since fewer than `wait_s` seconds have passed since it first did.

    The caller then says nothing; its answer would be thrown away.
    """
    room: WaitingRoom | None = environ.get(ROOM)
    if wait_s == 0 or room is None or not room.enter(environ):
        return False
    now_ms = clock.monotonic_ms()
    left_ms = environ.setdefault(_ENDS_MS, now_ms + wait_s * 1000) - now_ms
    if left_ms <= 0:
        return False
    look_s = environ.get(_LOOK_S, _FIRST_LOOK_S)
    environ[_LOOK_S] = min(look_s * 1.5, _LONGEST_LOOK_S)
    environ[AGAIN_S] = min(look_s, left_ms / 1000)
    return True


def is_unanswered(environ: MutableMapping[str, Any]) -> bool:
    """Whether the server will ask again."""
    return AGAIN_S in environ
