"""A clock that stands until a test turns it."""


class FakeClock:
    """Both of the machine's clocks, moved by hand.

    Args:
        now_ms: where it begins, epoch ms.
    """

    def __init__(self, now_ms: int = 1_760_000_000_000) -> None:
        self._now_ms = now_ms
        self._monotonic_ms = 0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def thread_us(self) -> int:
        return self._monotonic_ms * 1_000

    def advance(self, ms: int) -> None:
        """Let `ms` milliseconds pass on both."""
        self._now_ms += ms
        self._monotonic_ms += ms
