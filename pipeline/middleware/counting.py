"""Counts what becomes of attempts that do not end their task: no table holds it."""

from dramatiq import Broker, MessageProxy, Middleware, Worker

from pipeline import metrics
from pipeline.attempts import Abandon, Attempt, Defer, HandBack, Retry
from pipeline.broker import ClaimedMessage
from pipeline.errors import EngineFailure
from pipeline.queue import Counters, Lane


class Counting(Middleware):
    """Counts after the outcome is decided, and once more when telling the queue shows that the lease was lost."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        for attempt in message.attempts:
            if isinstance(attempt.error, EngineFailure):
                self._counters.count(metrics.ENGINE_FAILURES, attempt.error.code)
            self._count(attempt, message.lane)

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        if isinstance(message, ClaimedMessage):
            for attempt in message.attempts:
                self._count(attempt, message.lane)

    def after_ack(self, broker: Broker, message: MessageProxy) -> None:
        if isinstance(message, ClaimedMessage):
            for attempt in message.attempts:
                if attempt.is_lease_lost:
                    self._counters.count(metrics.LEASES_LOST, message.lane)

    after_nack = after_ack

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._counters.close()

    def _count(self, attempt: Attempt, lane: Lane) -> None:
        match attempt.ending:
            case Retry(code=code):
                self._counters.count(metrics.RETRIES, lane, code)
            case Defer(code):
                self._counters.count(metrics.DEFERS, lane, code)
            case HandBack(code):
                self._counters.count(metrics.HAND_BACKS, lane, code)
            case Abandon():
                self._counters.count(metrics.LEASES_LOST, lane)
