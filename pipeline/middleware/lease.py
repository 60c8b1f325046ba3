"""The lease: started before the work, renewed while it lasts."""

import logging
import threading
from collections.abc import Sequence

from dramatiq import Broker, MessageProxy, Middleware, Worker
from dramatiq.middleware import SkipMessage

from pipeline.attempts import Attempt
from pipeline.broker import ClaimedMessage, FairBroker, fair_broker
from pipeline.errors import LeaseLost, QueueUnavailable
from pipeline.queue import Claim, FairQueue

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
        message.begun += [attempt for attempt in message.attempts if self._begin(attempt)]
        if not message.begun:
            raise SkipMessage("nothing has begun")

    def _begin(self, attempt: Attempt) -> bool:
        claim = attempt.claim
        try:
            attempt.begin(claim.started or self._queue.start(claim.task_id, claim.token))
        except (LeaseLost, QueueUnavailable) as exc:
            # Not started is not attempted. If the server cannot be reached the lease runs out by itself.
            attempt.run(log.warning, "not started: %s", exc)
            return False
        return True

    def _renew_on(self, broker: FairBroker) -> None:
        while not self._stopped.wait(self._renew_s):
            for claims in broker.slots.by_slot():
                try:
                    self._renew(claims)
                except QueueUnavailable as exc:
                    # Those of a slot lie in one shard; others may lie in one that answers, and must not wait for each.
                    log.warning("not renewed yet: %s", exc)

    def _renew(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            try:
                self._queue.renew(claim.task_id, claim.token)
            except LeaseLost as exc:
                # The work goes on, since it cannot be stopped from here, but the ledger will take nothing from it.
                log.warning("not renewed: %s", exc)
