"""Announces this worker process for as long as it works, and what it can do."""

import logging
import threading
from collections.abc import Mapping

from dramatiq import Broker, Middleware, Worker

from pipeline.broker import FairBroker, fair_broker
from pipeline.errors import QueueUnavailable
from pipeline.middleware.warm_up import lanes_of, queues_of
from pipeline.queue import Lane
from pipeline.workers.registry import Registration, WorkerRegistry

log = logging.getLogger(__name__)


class Presence(Middleware):
    """Registers at boot, beats while the worker lives, leaves at once on a clean stop.

    Args:
        engine_slots: images the engine can read at once; extra threads only overlap fetching and storing.
        engine_name: of the OCR engine, for the registry.
        heartbeat_s: seconds between two entries.
    """

    def __init__(
        self,
        registry: WorkerRegistry,
        *,
        engine_slots: int,
        engine_name: str,
        heartbeat_s: float,
    ) -> None:
        self._registry = registry
        self._engine_slots = engine_slots
        self._engine_name = engine_name
        self._heartbeat_s = heartbeat_s
        self._stopped = threading.Event()

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        lanes = lanes_of(worker)
        slots = slots_of(lanes, worker.worker_threads, self._engine_slots)
        fair = fair_broker(broker)
        fair.slots.open(slots)
        registration = Registration(
            lanes=tuple(queues_of(worker)),
            threads=worker.worker_threads,
            effective=sum(slots.values()),
            engine=self._engine_name if "ocr" in lanes else "none",
        )
        self._beat(fair, registration)
        threading.Thread(target=self._beat_on, args=(fair, registration), name="presence", daemon=True).start()

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        # Dramatiq keeps its consumers alive until the workers have finished: without this they would claim on.
        fair_broker(broker).slots.close()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._stopped.set()
        try:
            self._registry.leave()
        except QueueUnavailable as exc:
            log.warning("the registry entry stays until it runs out: %s", exc)

    def _beat_on(self, broker: FairBroker, registration: Registration) -> None:
        while not self._stopped.wait(self._heartbeat_s):
            self._beat(broker, registration)

    def _beat(self, broker: FairBroker, registration: Registration) -> None:
        try:
            self._registry.beat(registration, active_tasks=len(broker.slots.claims()))
        except QueueUnavailable as exc:
            log.warning("no heartbeat: %s", exc)


def slots_of(lanes: list[Lane], threads: int, engine_slots: int) -> Mapping[Lane, int]:
    """How many tasks of each lane a process may hold: what can really run at once, never more than its threads.

    An image holds a thread while it is read, so texts get the threads that are left.
    """
    if "ocr" not in lanes:
        return dict.fromkeys(lanes, threads)
    images = min(engine_slots, threads)
    return {lane: images if lane == "ocr" else max(1, threads - images) for lane in lanes}
