"""What a task cost: the time its slot was busy."""

import threading

from dramatiq import Broker, MessageProxy, Middleware

from pipeline.broker import ClaimedMessage
from pipeline.clock import Clock


class Measure(Middleware):
    """Notes the worker-milliseconds that each task used, for the queue to charge.

    What a message spent for all of its tasks together is divided equally.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._here = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        self._here.began_ms = self._clock.monotonic_ms()

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        spent_ms = self._clock.monotonic_ms() - self._here.began_ms
        shared_ms = (spent_ms - sum(attempt.own_ms for attempt in message.begun)) / max(1, len(message.begun))
        for attempt in message.begun:
            # At least 1: work that costs nothing could be asked for without end.
            attempt.cost_ms = max(1, round(attempt.own_ms + shared_ms))
