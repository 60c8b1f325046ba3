"""Ctrl-C and SIGTERM: the first asks to stop, the second kills."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

#: SIGHUP is a terminal that was closed.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """What has been asked for; `stop` is set by the first signal, `kill` called by each later one."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.kill: Callable[[], None] = lambda: None

    def raise_if_stopped(self, wait_s: float = 0) -> None:
        """Wait; raise KeyboardInterrupt as soon as somebody wants us to stop.

        Asked at places of our choosing rather than raised by the handler: nothing is then left half started.
        """
        if self.stop.wait(wait_s) if wait_s else self.stop.is_set():
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.stop.is_set():
            self.kill()
            return
        self.stop.set()
        # Not print: it may have been interrupted itself.
        os.write(2, b"\nstopping; once more kills at once\n")


@contextmanager
def handled_signals() -> Iterator[Interrupts]:
    """Handle the signals inside the block; only in the main thread."""
    interrupts = Interrupts()
    before = {number: signal.signal(number, interrupts._handle) for number in _SIGNALS}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
