"""What is wrong with the whole right now, as far as the queue, the workers and the last snapshot tell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.clock import Clock
from pipeline.devices import DeviceBook
from pipeline.queue import Entry, Inspector, LaneStatus, Roster, WorkerView, fact_numbers, fact_values
from pipeline.settings import Settings

Severity = Literal["critical", "warning"]

#: Clocks this far apart make waits and leases look wrong, ms: NTP keeps hosts within a few.
_SKEW_MAX_MS = 2_000
#: Of maxmemory, or of the place for pending tasks.
_NEARLY_FULL = 0.9
#: Paused devices are counted up to this.
_PAUSED_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that is wrong.

    Args:
        code: for programs and translations.
        subject: what it is wrong with: a lane, a host; empty for the whole.
        detail: figures.
    """

    severity: Severity
    code: str
    subject: str = ""
    detail: str = ""


def alarms(inspector: Inspector, roster: Roster, devices: DeviceBook, clock: Clock, settings: Settings) -> list[Alarm]:
    """All that is wrong, the critical first.

    Raises: QueueUnavailable, DatabaseUnavailable.
    """
    workers = roster.workers()
    # Before the rest, which takes its time.
    skew_ms = inspector.now_ms() - clock.now_ms()
    found = [
        *_of_clocks(skew_ms),
        *_of_snapshot(inspector.watermark()),
        *_of_lanes(inspector.lanes(), workers, roster, settings),
        *_of_server(inspector.server_facts()),
        *_of_devices(devices.count_paused(most=_PAUSED_MAX)),
        *_of_workers([WorkerView.of(worker, clock.now_ms()) for worker in workers]),
    ]
    return sorted(found, key=lambda alarm: alarm.severity)


def _of_clocks(skew_ms: int) -> Iterator[Alarm]:
    if abs(skew_ms) > _SKEW_MAX_MS:
        yield Alarm("warning", "clock_skew", detail=f"{skew_ms / 1000:.1f} s")


def _of_snapshot(snapshot: Mapping[str, Any] | None) -> Iterator[Alarm]:
    if snapshot is None:
        yield Alarm("critical", "no_scheduler")
        return
    held: dict[str, list[str]] = {}
    for name, lane in snapshot.get("lanes", {}).items():
        if lane.get("starved_devices"):
            yield Alarm("warning", "starved", subject=name, detail=str(lane["starved_devices"]))
        for host in lane.get("held_hosts", ()):
            held.setdefault(host, []).append(name)
    for host, lanes in sorted(held.items()):
        yield Alarm("warning", "held", subject=host, detail=", ".join(lanes))


def _of_lanes(
    lanes: Iterable[LaneStatus], workers: Sequence[Entry], roster: Roster, settings: Settings
) -> Iterator[Alarm]:
    pending = 0
    for lane in lanes:
        pending += lane.waiting + lane.delayed + lane.leased
        if lane.waiting and not roster.able(workers, lane.lane):
            yield Alarm("critical", "no_worker", subject=lane.lane, detail=str(lane.waiting))
    if pending >= settings.max_total_pending * _NEARLY_FULL:
        is_full = pending >= settings.max_total_pending
        detail = f"{pending} / {settings.max_total_pending}"
        yield Alarm("critical" if is_full else "warning", "overloaded" if is_full else "nearly_full", detail=detail)


def _of_devices(paused: int) -> Iterator[Alarm]:
    if paused:
        yield Alarm("warning", "paused", detail=f"{paused}+" if paused == _PAUSED_MAX else str(paused))


def _of_server(facts: Mapping[str, str]) -> Iterator[Alarm]:
    policies = fact_values(facts, "maxmemory_policy")
    if set(policies) - {"noeviction"}:
        yield Alarm("critical", "eviction_policy", detail=", ".join(policies))
    if "0" in fact_values(facts, "aof_enabled"):
        yield Alarm("warning", "no_persistence")
    # Of a Cluster the fullest node beside the smallest limit.
    used = max(fact_numbers(facts, "used_memory"), default=0)
    most = min(filter(None, fact_numbers(facts, "maxmemory")), default=0)
    if most and used >= most * _NEARLY_FULL:
        yield Alarm("critical", "memory", detail=f"{used / most:.0%}")


def _of_workers(workers: list[WorkerView]) -> Iterator[Alarm]:
    versions = sorted({worker.version for worker in workers})
    if len(versions) > 1:
        yield Alarm("warning", "versions", detail=", ".join(versions))
    for host in sorted({worker.hostname for worker in workers if worker.word_faults}):
        yield Alarm("warning", "words", subject=host)
