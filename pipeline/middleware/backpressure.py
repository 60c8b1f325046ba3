"""A host that is busy with other things is given nothing more to do; what runs on it runs on."""

import logging
import threading
from collections.abc import Callable

from dramatiq import Broker, MessageProxy, Middleware, Worker
from dramatiq.middleware import SkipMessage

from pipeline.attempts import HandBack
from pipeline.broker import ClaimedMessage, FairBroker, fair_broker
from pipeline.errors import HostOverloaded
from pipeline.queue import LANES, Lane
from pipeline.workers.sampler import GPU_MEMORY_OVER, MEMORY_OVER, Sampler

log = logging.getLogger(__name__)

#: Milliseconds after which it may be worth asking this host again: it must be calm for three samples.
_RETRY_AFTER_MS = 3_000

#: Reasons that our own engine may be the cause of, and seconds between two looks whether it is idle by now.
_MEMORY_REASONS = frozenset([MEMORY_OVER, GPU_MEMORY_OVER])
_IDLE_LOOK_S = 0.5


class Backpressure(Middleware):
    """Holds the worker's slots while the sampler finds the host over a watermark, and releases them by itself.

    A task that was claimed just before goes back to the head of its line: it was not started, so the ledger knows of
    nothing, no attempt is counted and its device is not put into backoff.

    What the engine took of memory it keeps: a host that is over for that reason alone would stay so for ever, with
    nothing running. So the engine is replaced once for each hold, as soon as it is idle.

    Args:
        free_memory: replaces what is idle of the engine; returns how many of its processes.
    """

    def __init__(self, sampler: Sampler, free_memory: Callable[[], int]) -> None:
        self._sampler = sampler
        self._free_memory = free_memory
        self._held: frozenset[str] = frozenset()
        self._stopped = threading.Event()

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        fair = fair_broker(broker)
        self._sampler.start(lambda reasons: self.apply(fair, reasons))

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._stopped.set()
        self._sampler.stop()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        reasons = self._held.intersection(fair_broker(broker).slots.holds(message.lane))
        if reasons:
            error = HostOverloaded(", ".join(sorted(reasons)), retry_after_ms=_RETRY_AFTER_MS)
            for attempt in message.attempts:
                attempt.run(log.info, "not started, handed back: %s", error, extra={"code": error.code})
                attempt.ending = HandBack(error.code)
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
        if reasons & _MEMORY_REASONS and not before & _MEMORY_REASONS:
            threading.Thread(target=self._free_when_idle, args=(broker,), name="free-memory", daemon=True).start()

    def _free_when_idle(self, broker: FairBroker) -> None:
        while self._held & _MEMORY_REASONS and not self._stopped.wait(_IDLE_LOOK_S):
            if not broker.slots.claims():
                log.info("held for memory and idle: %d engine processes replaced", self._free_memory())
                return


def lanes_of(reason: str) -> tuple[Lane, ...]:
    """The lanes that are not claimed for this reason: GPU memory concerns images alone."""
    return ("ocr",) if reason == GPU_MEMORY_OVER else LANES
