"""Single keys of a terminal, without Enter; the terminal is as it was afterwards."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event


class Keyboard:
    """What is typed; without a terminal nothing ever is.

    Args:
        descriptor: of the terminal; None without one.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def wait(self, limit_s: float) -> str:
        """Return the key pressed within `limit_s` seconds, else an empty string."""
        if self._descriptor is None:
            Event().wait(limit_s)
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], limit_s)
        if not ready:
            return ""
        typed = os.read(self._descriptor, 64).decode("utf-8", "replace")
        if not typed:  # the terminal is gone: nobody looks any more
            raise KeyboardInterrupt
        return typed[0]


@contextmanager
def open_keyboard() -> Iterator[Keyboard]:
    """Hear single keys inside the block; Ctrl-C stays an interrupt."""
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keyboard(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
