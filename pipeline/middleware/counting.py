"""Counts what becomes of attempts that do not end their task: no table holds it."""

from dramatiq import Broker, MessageProxy, Middleware, Worker

from pipeline import metrics
from pipeline.broker import Abandon, ClaimedMessage, Defer, HandBack, Retry
from pipeline.errors import EngineFailure, FairlaneError, HostOverloaded
from pipeline.queue import Counters


class Counting(Middleware):
    """Counts after the outcome is decided, and once more when telling the queue shows that the lease was lost."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        if isinstance(exception, EngineFailure):
            self._counters.count(metrics.ENGINE_FAILURES, exception.code)
        code = exception.code if isinstance(exception, FairlaneError) else FairlaneError.code
        self._count(message, code)

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        if isinstance(message, ClaimedMessage):
            self._count(message, HostOverloaded.code)

    def after_ack(self, broker: Broker, message: MessageProxy) -> None:
        if isinstance(message, ClaimedMessage) and message.is_lease_lost:
            self._counters.count(metrics.LEASES_LOST, message.claim.lane)

    after_nack = after_ack

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._counters.close()

    def _count(self, message: ClaimedMessage, code: str) -> None:
        lane = message.claim.lane
        match message.ending:
            case Retry():
                self._counters.count(metrics.RETRIES, lane, code)
            case Defer():
                self._counters.count(metrics.DEFERS, lane, code)
            case HandBack():
                self._counters.count(metrics.HAND_BACKS, lane, code)
            case Abandon():
                self._counters.count(metrics.LEASES_LOST, lane)
