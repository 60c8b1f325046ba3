"""The time, asked for in one place, so that tests can turn the clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """What the rest of fairlane may ask about time."""

    def now_ms(self) -> int:
        """Wall clock, epoch milliseconds: for what is stored or shown."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds from an arbitrary start, never going back: for durations."""
        ...

    def thread_us(self) -> int:
        """Microseconds for which this thread has had a processor: for what it did itself, however busy others were."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def thread_us(self) -> int:
        return time.thread_time_ns() // 1_000

    def monotonic_us(self) -> int:
        """Microseconds on the same scale as `monotonic_ms`: for waits that are shorter than one of those."""
        return time.monotonic_ns() // 1_000
