"""Which processes of this host are fairlane's own, and the CPU time they have used together."""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

#: Readings between two looks at the process table: a look costs 31 us for each process of the host (measured), a
#: reading 30 us for each of ours.
_READINGS_PER_LOOK = 5

#: How often a reading begins anew when a process ends during it.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class OwnTime:
    """What our processes have used.

    Args:
        seconds: CPU time of all of them and of those that have ended; grows only, while `roots` stay the same.
        roots: the trees that were counted, as process ids and start times.
        waited_s: by process and thread, how long it was ready to run and had no processor; empty where the kernel does
            not say (it does on Linux with SCHED_INFO, as distributions build it).
    """

    seconds: float
    roots: frozenset[tuple[int, float]]
    waited_s: Mapping[tuple[int, str], float]


class OwnProcesses:
    """The trees of this worker's Dramatiq master, of the supervisor that started us, and of the workers beside us.

    A parent carries the time of the children it has waited for. So the sum over whole trees loses nothing when an
    engine child is replaced.

    Args:
        supervisor_pid: process whose whole tree is ours; 0 when there is none.
        processes: the module psutil, or what stands for it.
        root: where `proc` lies.
    """

    def __init__(self, supervisor_pid: int = 0, processes: Any = psutil, root: Path = Path("/")) -> None:
        self._processes = processes
        self._proc = root / "proc"
        parent = multiprocessing.parent_process()
        own = (parent.pid if parent and parent.pid else None) or os.getpid()
        self._fixed = [pid for pid in (supervisor_pid, own) if pid]
        self._siblings: frozenset[int] = frozenset()
        self._lock = threading.Lock()
        self._roots: list[Any] = []
        self._members: list[Any] = []
        self._until_look = 0

    def count_siblings(self, pids: Iterable[int]) -> None:
        """Count the trees of these worker processes as ours, from now on and in place of those named before."""
        with self._lock:
            siblings = frozenset(pids)
            if siblings != self._siblings:
                self._siblings, self._until_look = siblings, 0

    def cpu_time(self, *, is_anew: bool = False) -> OwnTime:
        """Read what all of them have used.

        Args:
            is_anew: look at the process table first: a child may have been born since the last look.
        """
        with self._lock:
            if is_anew or self._until_look <= 0:
                self._look()
            self._until_look -= 1
            for _ in range(_TRIES):
                try:
                    seconds = sum(_used_s(process) for process in self._members)
                    roots = frozenset((root.pid, root.create_time()) for root in self._roots)
                    return OwnTime(seconds, roots, dict(self._waits()))
                except self._processes.NoSuchProcess:
                    # Its time is with its parent by now, which may have been read before.
                    self._look()
            return OwnTime(0.0, frozenset(), {})

    def _look(self) -> None:
        members: dict[int, Any] = {}
        self._roots = []
        for pid in [*self._fixed, *sorted(self._siblings)]:
            root = None if pid in members else self._find(pid)
            if root is None:  # gone, or a branch of a tree that is counted already
                continue
            try:
                members |= {process.pid: process for process in (root, *root.children(recursive=True))}
            except self._processes.NoSuchProcess:
                continue
            self._roots.append(root)
        self._members = list(members.values())
        self._until_look = _READINGS_PER_LOOK

    def _waits(self) -> Iterator[tuple[tuple[int, str], float]]:
        for process in self._members:
            threads = self._proc / str(process.pid) / "task"
            try:
                for thread in os.listdir(threads):
                    _, waited_ns, _ = (threads / thread / "schedstat").read_text().split()
                    yield (process.pid, thread), int(waited_ns) / 1e9
            except (OSError, ValueError):  # it has ended, or the kernel does not say
                continue

    def _find(self, pid: int) -> Any:
        try:
            return self._processes.Process(pid)
        except self._processes.NoSuchProcess:
            return None


def machine_name(root: Path = Path("/")) -> str:
    """Name what process ids are numbered in: this boot of this kernel, and the pid namespace; empty when unknown.

    Two containers may share a host name, and a process id of one means nothing in the other.
    """
    try:
        boot = (root / "proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{(root / 'proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _used_s(process: Any) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)
