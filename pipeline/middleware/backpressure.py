"""A host that is busy with other things is given nothing more to do; what runs on it runs on."""

import logging

from dramatiq import Broker, MessageProxy, Middleware, Worker
from dramatiq.middleware import SkipMessage

from pipeline.broker import ClaimedMessage, FairBroker, HandBack, fair_broker
from pipeline.errors import HostOverloaded
from pipeline.queue import LANES, Lane
from pipeline.workers.sampler import GPU_MEMORY_OVER, Sampler

log = logging.getLogger(__name__)

#: Milliseconds after which it may be worth asking this host again: it must be calm for three samples.
_RETRY_AFTER_MS = 3_000


class Backpressure(Middleware):
    """Holds the worker's slots while the sampler finds the host over a watermark, and releases them by itself.

    A task that was claimed just before goes back to the head of its line: it was not started, so the ledger knows of
    nothing, no attempt is counted and its device is not put into backoff.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._held: frozenset[str] = frozenset()

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        fair = fair_broker(broker)
        self._sampler.start(lambda reasons: self.apply(fair, reasons))

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._sampler.stop()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        reasons = self._held.intersection(fair_broker(broker).slots.holds(message.claim.lane))
        if reasons:
            error = HostOverloaded(", ".join(sorted(reasons)), retry_after_ms=_RETRY_AFTER_MS)
            log.info("not started, handed back: %s", error, extra={"code": error.code})
            message.ending = HandBack()
            raise SkipMessage(str(error)) from error

    def apply(self, broker: FairBroker, reasons: frozenset[str]) -> None:
        """Hold the slots for these reasons, and for no other of ours any more."""
        before, self._held = self._held, reasons
        for reason in sorted(reasons - before):
            log.warning("claiming nothing: %s: %s", reason, self._sampler.figures)
            broker.slots.hold(reason, lanes_of(reason))
        for reason in sorted(before - reasons):
            log.info("no longer: %s", reason)
            broker.slots.release(reason)


def lanes_of(reason: str) -> tuple[Lane, ...]:
    """The lanes that are not claimed for this reason: GPU memory concerns images alone."""
    return ("ocr",) if reason == GPU_MEMORY_OVER else LANES
