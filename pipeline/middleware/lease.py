"""The lease: started before the work, renewed while it lasts."""

import logging
import threading

from dramatiq import Broker, MessageProxy, Middleware, Worker
from dramatiq.middleware import SkipMessage

from pipeline.attempts import Attempt
from pipeline.broker import ClaimedMessage, FairBroker, fair_broker
from pipeline.errors import LeaseLost, QueueUnavailable
from pipeline.queue import FairQueue, Started

log = logging.getLogger(__name__)


class LeaseRenewal(Middleware):
    """Starts each attempt and renews every lease this process holds.

    The engine runs in a process of its own, so no native code can keep this thread from running.

    Args:
        queue: any connection but the consumer's, which may be blocked for a while.
        renew_s: seconds between two renewals.
    """

    def __init__(self, queue: FairQueue, *, renew_s: float) -> None:
        self._queue = queue
        self._renew_s = renew_s
        self._stopped = threading.Event()

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        threading.Thread(target=self._renew_on, args=(fair_broker(broker),), name="lease-renewal", daemon=True).start()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._stopped.set()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        try:
            answers = self._queue.start_each([attempt.claim for attempt in message.attempts])
        except QueueUnavailable as exc:
            # Not started is not attempted: the leases run out by themselves.
            log.warning("not started: %s", exc, extra={"lane": message.lane, "tasks": len(message.attempts)})
            raise SkipMessage(str(exc)) from exc
        pairs = zip(message.attempts, answers, strict=True)
        message.begun += [attempt for attempt, answer in pairs if _has_begun(attempt, answer)]
        if not message.begun:
            raise SkipMessage("every lease was lost")

    def _renew_on(self, broker: FairBroker) -> None:
        while not self._stopped.wait(self._renew_s):
            for claim in broker.slots.claims():
                try:
                    self._queue.renew(claim.task_id, claim.token)
                except LeaseLost as exc:
                    # The work goes on, since it cannot be stopped from here, but the ledger will take nothing from it.
                    log.warning("not renewed: %s", exc)
                except QueueUnavailable as exc:
                    # The others may lie in shards that answer.
                    log.warning("not renewed yet: %s", exc)


def _has_begun(attempt: Attempt, answer: Started | LeaseLost) -> bool:
    if isinstance(answer, LeaseLost):
        attempt.run(log.warning, "not started: %s", answer)
        return False
    attempt.begin(answer)
    return True
