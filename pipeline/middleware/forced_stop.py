"""A worker that is told twice to stop gives back at once what it holds."""

import logging
import signal
from multiprocessing.util import Finalize

from dramatiq import Broker, Middleware, Worker

from models.base import connection
from models.ledger import Ledger
from pipeline.broker import FairBroker, fair_broker
from pipeline.errors import LeaseLost, Permanent, Retryable
from pipeline.queue import TASK_LANES, Claim, FairQueue

log = logging.getLogger(__name__)

#: Before the engine's children are ended (`ocr/pool.py`, 10), so that no read seems to have crashed.
_EXIT_PRIORITY = 20
_CODE, _REASON = "worker_stopped", "its worker was told to stop at once"


class ForcedStop(Middleware):
    """Hands back, as the process ends, what has not been finished: to the head of its line, and no attempt is counted.

    Dramatiq waits for what runs after the first SIGTERM and ends at the second one. Without this the tasks would wait
    for their leases to run out.

    Args:
        queue: any connection but the consumer's.
    """

    def __init__(self, queue: FairQueue, ledger: Ledger) -> None:
        self._queue = queue
        self._ledger = ledger

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        # A forked process runs none of what `atexit` holds, but these.
        Finalize(None, self._hand_back_all, args=(fair_broker(broker),), exitpriority=_EXIT_PRIORITY)

    def _hand_back_all(self, broker: FairBroker) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a third one would cut this short
        broker.slots.close()
        with connection():
            for claim in broker.slots.claims():
                try:
                    self._hand_back(claim)
                except Retryable as exc:
                    log.warning("not handed back, its lease will run out: %s", exc)

    def _hand_back(self, claim: Claim) -> None:
        try:
            if claim.lane in TASK_LANES:
                self._ledger.put_back(claim.task_id, claim.token, "queued", _CODE, _REASON, None)
            self._queue.hand_back(claim.task_id, claim.token)
        except (LeaseLost, Permanent) as exc:
            # It has just been finished, or is somebody else's: the books are right as they are.
            log.info("not handed back: %s", exc)
            return
        log.warning("handed back unfinished", extra={"task_id": claim.task_id})
