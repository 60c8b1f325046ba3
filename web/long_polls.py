"""Long polls: a request that is not answered yet, but asked again, so that it holds neither a thread nor a connection
to the database in between. What is said here to `web.whole_requests` stands in the environ.
"""

from typing import Any

from pipeline.clock import Clock

#: Set while a request is not to be answered yet: seconds after which the application is to be called again.
AGAIN_S = "fairlane.again_s"
#: Whether the server has room for one more request that waits, and goes on serving.
MAY_WAIT = "fairlane.may_wait"

_ENDS_MS = "fairlane.poll_ends_ms"
_LOOK_S = "fairlane.poll_look_s"

#: Seconds between two looks at a task that somebody waits for: short at first, when most of them end.
_FIRST_LOOK_S = 0.1
_LONGEST_LOOK_S = 1.0


def is_held_back(environ: dict[str, Any], clock: Clock, wait_s: int) -> bool:
    """Whether the server will ask again, since fewer than `wait_s` seconds have passed since it first did.

    The caller then says nothing; its answer would be thrown away.
    """
    if wait_s == 0 or not environ.get(MAY_WAIT, False):
        return False
    now_ms = clock.monotonic_ms()
    left_ms = environ.setdefault(_ENDS_MS, now_ms + wait_s * 1000) - now_ms
    if left_ms <= 0:
        return False
    look_s = environ.get(_LOOK_S, _FIRST_LOOK_S)
    environ[_LOOK_S] = min(look_s * 1.5, _LONGEST_LOOK_S)
    environ[AGAIN_S] = min(look_s, left_ms / 1000)
    return True


def is_unanswered(environ: dict[str, Any]) -> bool:
    """Whether the server will ask again."""
    return AGAIN_S in environ
