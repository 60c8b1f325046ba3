"""Announces this worker process for as long as it works, what it can do, and why it claims nothing when it does not."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from dramatiq import Broker, Middleware, Worker

from pipeline.broker import fair_broker
from pipeline.errors import QueueUnavailable
from pipeline.middleware.warm_up import lanes_of, queues_of
from pipeline.queue import Lane
from pipeline.slots import Slots
from pipeline.workers.registry import Condition, Registration, WorkerRegistry
from pipeline.workers.sampler import HostFigures

log = logging.getLogger(__name__)

#: Seconds a heartbeat that is under way may take when the worker stops: the limits of the Redis client are below.
_LAST_BEAT_S = 10.0

#: Of so many threads of a process that serves other lanes, too, one makes announcements.
_ANNOUNCING_SHARE = 3

#: Why a worker claims nothing when it has been told to stop.
STOPPING = "stopping"


class Engine(Protocol):
    """What presence asks of the OCR engines; see `OcrEngines`."""

    @property
    def name(self) -> str: ...

    @property
    def is_on_gpu(self) -> bool: ...

    def watch(self, tell: Callable[[], None]) -> None: ...


class Presence(Middleware):
    """Registers at boot, beats while the worker lives and when it is held or released, leaves at once on a clean stop.

    Args:
        engine_slots: images the engine can read at once; extra threads only overlap fetching and storing.
        engine: which reads the images, and whether on a GPU, a change of which is told at once; None: there is none.
        heartbeat_s: seconds between two entries.
        figures: the newest sample of the host.
        word_faults: lists of words that cannot be loaded, and why.
        meet: called with the process ids of the workers beside this one, after each heartbeat.
    """

    def __init__(
        self,
        registry: WorkerRegistry,
        *,
        engine_slots: int,
        engine: Engine | None,
        heartbeat_s: float,
        figures: Callable[[], HostFigures],
        word_faults: Callable[[], Sequence[str]],
        meet: Callable[[Iterable[int]], None],
    ) -> None:
        self._registry = registry
        self._engine_slots = engine_slots
        self._engine = engine
        self._heartbeat_s = heartbeat_s
        self._figures = figures
        self._word_faults = word_faults
        self._meet = meet
        self._is_stopped = False
        self._due = threading.Event()
        self._thread: threading.Thread | None = None

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        lanes = lanes_of(worker)
        engine = self._engine if "ocr" in lanes else None
        slots = slots_of(lanes, worker.worker_threads, self._engine_slots)
        fair = fair_broker(broker)
        fair.slots.open(slots)
        registration = Registration(
            lanes=tuple(queues_of(worker)),
            threads=worker.worker_threads,
            slots=slots,
        )

        def beat() -> None:
            condition = condition_of(fair.slots, lanes, self._figures())
            if engine is not None:
                condition = replace(condition, engine=engine.name, is_on_gpu=engine.is_on_gpu)
            self._beat(registration, replace(condition, word_faults=self._word_faults()))

        beat()
        fair.slots.watch(self._due.set)
        if engine is not None:
            engine.watch(self._due.set)
        self._thread = threading.Thread(target=self._beat_on, args=(beat,), name="presence", daemon=True)
        self._thread.start()

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        # Dramatiq keeps its consumers alive until the workers have finished: without this they would claim on.
        fair_broker(broker).slots.close()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._is_stopped = True
        self._due.set()
        if self._thread:
            # A beat under way would enter us again after we have left.
            self._thread.join(_LAST_BEAT_S)
        try:
            self._registry.leave()
        except QueueUnavailable as exc:
            log.warning("the registry entry stays until it runs out: %s", exc)

    def _beat_on(self, beat: Callable[[], None]) -> None:
        while True:
            self._due.wait(self._heartbeat_s)
            self._due.clear()
            if self._is_stopped:
                return
            beat()

    def _beat(self, registration: Registration, condition: Condition) -> None:
        try:
            self._registry.beat(registration, condition)
            self._meet(self._registry.siblings())
        except QueueUnavailable as exc:
            log.warning("no heartbeat: %s", exc)
        except Exception:
            # Whatever it is, a worker that goes on working must not vanish from the registry for good.
            log.exception("no heartbeat")


def condition_of(slots: Slots, lanes: Iterable[Lane], figures: HostFigures) -> Condition:
    """What a worker of these lanes is doing now."""
    active = slots.in_use()
    if slots.is_closed:
        return Condition(active, (STOPPING,), is_held=True, figures=figures)
    holds = {lane: slots.holds(lane) for lane in lanes}
    is_held = all(holds.values())
    # Of a worker that is held in part, each reason says where.
    named = {reason if is_held else f"{lane}: {reason}" for lane, reasons in holds.items() for reason in reasons}
    return Condition(active, tuple(sorted(named)), is_held=is_held, figures=figures)


def slots_of(lanes: Sequence[Lane], threads: int, engine_slots: int) -> Mapping[Lane, int]:
    """How many slots of each lane a process has: what can really run at once, never more than its threads.

    An image holds a thread while it is read, so texts get the threads that are left. Announcements get a third: they
    may wait for a silent receiver, and nothing else may have to wait for that.
    """
    others = [lane for lane in lanes if lane != "notify"]
    if "notify" in lanes:
        announcing = max(1, threads // _ANNOUNCING_SHARE) if others else threads
        return {**slots_of(others, max(1, threads - announcing), engine_slots), "notify": announcing}
    if "ocr" not in lanes:
        return dict.fromkeys(lanes, threads)
    images = min(engine_slots, threads)
    return {lane: images if lane == "ocr" else max(1, threads - images) for lane in lanes}
