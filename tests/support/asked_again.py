"""What the server does with long polls, without the server."""

from collections.abc import Callable, Iterable
from typing import Any

from web.long_polls import AGAIN_S, ROOM, WaitingRoom


class AskedAgain:
    """A WSGI application around ours that asks it again as long as it wants to be.

    Args:
        pause: what to do for so many seconds in between.
    """

    def __init__(self, app: Any, pause: Callable[[float], None]) -> None:
        self.app, self.pause = app, pause
        self.room = WaitingRoom(seats=1, seats_per_address=1)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ[ROOM] = self.room
        while True:
            heard: list[Any] = []
            parts: Iterable[bytes] = self.app(environ, lambda *said, heard=heard: heard.append(said))
            again_s = environ.pop(AGAIN_S, None)
            if again_s is None:
                self.room.leave(environ)
                start_response(*heard[0])
                return parts
            self.pause(again_s)
