"""Images that need a GPU are claimed by workers that have one, by others only while the scheduler lets them."""

import logging
import threading
from collections.abc import Callable

from dramatiq import Broker, Middleware, Worker

from pipeline.broker import FairBroker, fair_broker
from pipeline.errors import QueueUnavailable
from pipeline.middleware.warm_up import lanes_of, queues_of
from pipeline.queue import CPU_ONLY, Lane, Roster

log = logging.getLogger(__name__)

#: The lane whose work may need a GPU, and why nothing of it is claimed then.
_LANE: Lane = "ocr"
_REASON = "needs a GPU"
#: Seconds between two looks at the GPU and at the scheduler's word.
_LOOK_S = 0.5


class Capability(Middleware):
    """Holds the lane of images while this worker cannot do its work, from before the first claim on.

    Args:
        has_gpu: says at once whether a GPU can be used now.
        is_gpu_required: images need one; else nothing is held.
    """

    def __init__(self, roster: Roster, has_gpu: Callable[[], bool], *, is_gpu_required: bool) -> None:
        self._roster = roster
        self._has_gpu = has_gpu
        self._is_gpu_required = is_gpu_required
        self._uses_gpu = True
        self._is_held = False
        self._stopped = threading.Event()

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        fair = fair_broker(broker)
        for name in CPU_ONLY.intersection(queues_of(worker)):
            # No actor names it, so nobody else would make Dramatiq open a consumer.
            fair.declare_queue(name)
            self._uses_gpu = False
        if self._is_gpu_required and _LANE in lanes_of(worker):
            self._hold(fair)
            self._look(fair)
            threading.Thread(target=self._look_on, args=(fair,), name="capability", daemon=True).start()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._stopped.set()

    def _look_on(self, broker: FairBroker) -> None:
        while not self._stopped.wait(_LOOK_S):
            self._look(broker)

    def _look(self, broker: FairBroker) -> None:
        try:
            is_able = (self._uses_gpu and self._has_gpu()) or self._roster.is_downgraded(_LANE)
        except QueueUnavailable as exc:
            log.debug("what the scheduler says is not known: %s", exc)
            return
        if is_able and self._is_held:
            log.info("images are claimed from now on")
            broker.slots.release(_REASON)
            self._is_held = False
        elif not is_able and not self._is_held:
            self._hold(broker)

    def _hold(self, broker: FairBroker) -> None:
        log.warning("no image is claimed: a GPU is required, and none can be used here")
        broker.slots.hold(_REASON, [_LANE])
        self._is_held = True
