"""How busy the processors are that this process may use, and how much of that is not our own doing."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from pipeline.clock import Clock
from pipeline.workers.cgroup import Cgroup, CpuQuota
from pipeline.workers.own import OwnProcesses, OwnTime

#: Busy share from which a host is full: below, who waits does so for moments only.
_FULL = 0.95

#: The stretch that is believed at most: with many more engines than processors, any clatter of the system would
#: otherwise look like a load; what others really burn shows all the same, with up to four engines for each processor.
_STRETCH_MAX = 4.0


@dataclass(frozen=True, slots=True)
class CpuFigures:
    """Over the time since the reading before; 0 in the first.

    Args:
        count: processors this process may use at once; a quota makes it a fraction.
        percent: how busy the tighter of host and quota was, 0..100.
        others_percent: the same without what our own processes burnt, 0..100. On a host that is full it is what the
            others would take if we were not there: see `_stretch`.
    """

    count: float
    percent: float
    others_percent: float


@dataclass(frozen=True, slots=True)
class _Reading:
    at_ms: int
    busy_s: float
    total_s: float
    quotas: dict[Path, CpuQuota]
    own: OwnTime


class CpuProbe:
    """Compares each reading with the one before; used by one thread.

    NOTE: psutil's own `cpu_percent` keeps its baseline per thread and knows no quotas: at the whole of half a core it
    says 48 % of two cores.

    Args:
        doubt_percent: share of others from which the process table is looked at anew before it is believed.
        processes: the module psutil, or what stands for it.
    """

    def __init__(
        self, cgroup: Cgroup, own: OwnProcesses, clock: Clock, *, doubt_percent: float, processes: Any = psutil
    ) -> None:
        self._cgroup = cgroup
        self._own = own
        self._clock = clock
        self._doubt_percent = doubt_percent
        self._processes = processes
        self._before: _Reading | None = None
        self._last = CpuFigures(1.0, 0.0, 0.0)

    def read(self) -> CpuFigures:
        """Return the figures since the last call."""
        before, now = self._before, self._look()
        if before is not None and self._is_doubtful(before, now):
            now = replace(now, own=self._own.cpu_time(is_anew=True))
        self._before = now
        count = min([float(len(self._usable())), *(quota.cores for quota in now.quotas.values())])
        if before is None:
            self._last = CpuFigures(count, 0.0, 0.0)
        else:
            others = _others(before, now)
            # A tree that came or went: what it burnt in between is not known, and the figure before stays.
            others = self._last.others_percent if others is None else others
            self._last = CpuFigures(count, _share(before, now), others)
        return self._last

    def _is_doubtful(self, before: _Reading, now: _Reading) -> bool:
        others = _others(before, now)
        return others is not None and others >= self._doubt_percent

    def _look(self) -> _Reading:
        times = self._processes.cpu_times(percpu=True)
        usable = self._usable()
        chosen = [times[number] for number in usable] if max(usable) < len(times) else times
        rows = [row._asdict() for row in chosen]
        # Linux counts the time of guests in `user` too.
        total_s = sum(sum(row.values()) - row.get("guest", 0) - row.get("guest_nice", 0) for row in rows)
        idle_s = sum(row["idle"] + row.get("iowait", 0) for row in rows)
        return _Reading(
            self._clock.monotonic_ms(), total_s - idle_s, total_s, self._cgroup.cpu_quotas(), self._own.cpu_time()
        )

    def _usable(self) -> list[int]:
        if hasattr(os, "sched_getaffinity"):
            return sorted(os.sched_getaffinity(0))
        return list(range(self._processes.cpu_count() or 1))


def _others(before: _Reading, now: _Reading) -> float | None:
    """The share of others; None when our processes are not the same trees as before, or lost a branch."""
    own_s = now.own.seconds - before.own.seconds
    if now.own.roots != before.own.roots or own_s < 0:
        return None
    return _share(before, now, own_s, _stretch(before, now, own_s))


def _stretch(before: _Reading, now: _Reading, own_s: float) -> float:
    """How much longer than alone our processes took, 1 to 4: the kernel stretches the others as much.

    On a full host two busy loops of others beside two of ours burn half of two processors, and would burn all of it
    without us: the share alone would call a host free for as long as we keep it busy ourselves.
    """
    total_s = now.total_s - before.total_s
    if own_s <= 0 or now.busy_s - before.busy_s < _FULL * total_s:
        return 1.0
    known = now.own.waited_s.keys() & before.own.waited_s.keys()
    waited_s = sum(now.own.waited_s[thread] - before.own.waited_s[thread] for thread in known)
    return min(_STRETCH_MAX, 1.0 + waited_s / own_s)


def _share(before: _Reading, now: _Reading, own_s: float = 0.0, stretch: float = 1.0) -> float:
    """The busy share without `own_s`, of the host or of a quota, whichever is tighter; percent.

    Args:
        stretch: what the host's own figure is multiplied by.
    """
    elapsed_s = (now.at_ms - before.at_ms) / 1000
    host_s = (now.busy_s - before.busy_s - own_s) * stretch
    room = [(host_s, now.total_s - before.total_s)]
    for folder, quota in now.quotas.items():
        if folder in before.quotas:
            room.append((quota.used_s - before.quotas[folder].used_s - own_s, quota.cores * elapsed_s))
    shares = [100 * others_s / room_s for others_s, room_s in room if room_s > 0]
    return min(100.0, max([0.0, *shares]))
