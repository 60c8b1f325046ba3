"""The queue as it is: lanes, devices, workers, slots, clocks, the server."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline import metrics
from pipeline.clock import Clock
from pipeline.errors import Retryable
from pipeline.queue import (
    LANES,
    Entry,
    Inspector,
    Lane,
    Pulse,
    Roster,
    Standstill,
    fact_numbers,
    is_held,
    slots_in,
)
from pipeline.settings import Settings
from web.figures.types import Figure

_ENGINES = ("rapid", "paddle", "none")


class QueueFigures:
    """Reads them in some dozens of commands, none of which looks at all tasks or devices.

    Whatever is read before the server stops answering is told.
    """

    def __init__(
        self,
        inspector: Inspector,
        roster: Roster,
        pulse: Pulse,
        standstill: Standstill,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._inspector = inspector
        self._roster = roster
        self._pulse = pulse
        self._standstill = standstill
        self._clock = clock
        self._max_total = settings.max_total_pending

    def read(self) -> Iterator[Figure]:
        """Raises: QueueUnavailable."""
        yield from self._clocks()
        yield from self._lanes()
        yield from self._devices()
        yield from self._workers()
        yield from _of_server(self._inspector.server_facts())

    def scheduler(self) -> Iterator[Figure]:
        """What the last watermark says. Raises: QueueUnavailable; Retryable, when there is none."""
        snapshot = self._inspector.watermark()
        if snapshot is None:
            raise Retryable("no scheduler has published a watermark of late")
        if isinstance(published_ms := snapshot.get("timestamp"), int):
            yield Figure(metrics.WATERMARK_AGE, (), _seconds(max(0, self._inspector.now_ms() - published_ms)))
        lanes = snapshot.get("lanes")
        for lane in LANES:
            told = lanes.get(lane) if isinstance(lanes, dict) else None
            yield from _of_snapshot(lane, told if isinstance(told, dict) else {})

    def _clocks(self) -> Iterator[Figure]:
        before_ms = self._clock.now_ms()
        now_ms = self._inspector.now_ms()
        ours_ms = (before_ms + self._clock.now_ms()) // 2
        yield Figure(metrics.CLOCK_SKEW, ("web",), _seconds(ours_ms - now_ms))
        skews = [beat.skew_ms for beat in self._roster.heartbeats(now_ms)]
        if skews:
            yield Figure(metrics.CLOCK_SKEW, ("worker",), _seconds(max(skews, key=abs)))

    def _lanes(self) -> Iterator[Figure]:
        for status in self._inspector.lanes():
            labels = (status.lane,)
            yield Figure(metrics.WAITING_TASKS, labels, status.waiting)
            yield Figure(metrics.DELAYED_TASKS, labels, status.delayed)
            yield Figure(metrics.RUNNING_TASKS, labels, status.leased)
            yield Figure(metrics.OLDEST_WAIT, labels, _seconds(status.oldest_wait_ms))
            yield Figure(metrics.WAITING_DEVICES, labels, status.devices)
        for survey in self._inspector.survey():
            yield Figure(metrics.STARVED_DEVICES, (survey.lane,), survey.starved)
        for lane, pulse in self._pulse.lanes().items():
            yield Figure(metrics.QUEUED_TASKS, (lane,), pulse.accepted)
        for lane, still_ms in self._standstill.look().items():
            yield Figure(metrics.STANDSTILL, (lane,), _seconds(still_ms))

    def _devices(self) -> Iterator[Figure]:
        counts = self._pulse.devices()
        yield Figure(metrics.PAUSED_DEVICES, (), counts.paused)
        yield Figure(metrics.BACKING_OFF_DEVICES, (), counts.backing_off)
        yield Figure(metrics.FULL_DEVICES, (), counts.full)
        yield Figure(metrics.PENDING_TASKS, (), counts.pending)
        yield Figure(metrics.PENDING_TASKS_LIMIT, (), self._max_total)

    def _workers(self) -> Iterator[Figure]:
        workers, pulses = self._roster.workers(), self._pulse.lanes()
        now_ms = self._inspector.now_ms()
        beats = {beat.worker_id: beat.age_ms for beat in self._roster.heartbeats(now_ms)}
        for lane in LANES:
            able = self._roster.able(workers, lane)
            yield from _of_workers(lane, able, pulses[lane].busy_slots)
            ages = [beats[name] for worker in able if (name := _id_of(worker)) in beats]
            if ages:
                yield Figure(metrics.HEARTBEAT_AGE, (lane,), _seconds(max(ages)))


def _of_workers(lane: Lane, able: Sequence[Entry], busy: int) -> Iterator[Figure]:
    engines = [worker.get("engine") for worker in able]
    for engine in _ENGINES:
        yield Figure(metrics.WORKERS, (lane, engine), engines.count(engine))
    yield Figure(metrics.WORKERS, (lane, "other"), sum(engine not in _ENGINES for engine in engines))
    yield Figure(metrics.GPU_WORKERS, (lane,), sum(worker.get("gpu_available") == "1" for worker in able))
    yield Figure(metrics.HELD_WORKERS, (lane,), sum(is_held(worker, lane) for worker in able))
    slots = slots_in([worker for worker in able if not is_held(worker, lane)], lane)
    for state, count in (("effective", slots), ("active", busy), ("idle", max(0, slots - busy))):
        yield Figure(metrics.SLOTS, (lane, state), count)


def _of_snapshot(lane: Lane, told: Mapping[str, Any]) -> Iterator[Figure]:
    if isinstance(desired := told.get("desired_workers"), int):
        yield Figure(metrics.DESIRED_WORKERS, (lane,), desired)
    if isinstance(wait_ms := told.get("expected_wait_ms"), int):
        yield Figure(metrics.EXPECTED_WAIT, (lane,), _seconds(wait_ms))


def _of_server(facts: Mapping[str, str]) -> Iterator[Figure]:
    # Of a Cluster each fact may be several, where its nodes differ: the worst of them is told.
    used, limits = fact_numbers(facts, "used_memory"), fact_numbers(facts, "maxmemory")
    if used:
        yield Figure(metrics.QUEUE_MEMORY, ("used",), max(used))
    if limits:
        yield Figure(metrics.QUEUE_MEMORY, ("limit",), min(limits))
    if policy := facts.get("maxmemory_policy"):
        yield Figure(metrics.QUEUE_MAY_EVICT, (), policy != "noeviction")
    if kept := facts.get("aof_enabled"):
        yield Figure(metrics.QUEUE_IS_PERSISTENT, (), kept == "1")


def _id_of(worker: Entry) -> str:
    return f"{worker.get('hostname', '')}:{worker.get('pid', '')}"


def _seconds(ms: float) -> float:
    return ms / 1000
