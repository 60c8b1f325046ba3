"""What a task cost: the time its slot was busy."""

import threading

from dramatiq import Broker, MessageProxy, Middleware

from pipeline.broker import ClaimedMessage
from pipeline.clock import Clock


class Measure(Middleware):
    """Writes the worker-milliseconds a task used into its message, for the queue to charge."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._here = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        self._here.began_ms = self._clock.monotonic_ms()

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if isinstance(message, ClaimedMessage):
            # At least 1: work that costs nothing could be asked for without end.
            message.cost_ms = max(1, self._clock.monotonic_ms() - self._here.began_ms)
