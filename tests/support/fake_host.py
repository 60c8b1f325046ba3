"""A host whose processes and processors are set by hand: what stands for the module psutil."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple


class Gone(Exception):
    """As psutil.NoSuchProcess."""


class _CoreTimes(NamedTuple):
    user: float
    system: float
    idle: float
    iowait: float
    guest: float
    guest_nice: float


@dataclass(eq=False)
class FakeProcess:
    """One process; `used_s` is what it burnt, `reaped_s` what children burnt that it has waited for."""

    pid: int
    parent: "FakeProcess | None" = None
    used_s: float = 0.0
    reaped_s: float = 0.0
    is_gone: bool = False
    started_s: float = 1.0

    def create_time(self) -> float:
        return self.started_s

    def cpu_times(self) -> Any:
        if self.is_gone:
            raise Gone
        return SimpleNamespace(user=self.used_s, system=0.0, children_user=self.reaped_s, children_system=0.0)


@dataclass
class FakeHost:
    """Some cores and some processes; the process of the test is `own`."""

    cores: int = 2
    NoSuchProcess: type[Exception] = Gone
    processes: dict[int, FakeProcess] = field(default_factory=dict)
    busy_s: float = 0.0
    elapsed_s: float = 0.0
    looks: int = 0

    def __post_init__(self) -> None:
        self.own = self.spawn(os.getpid())

    def spawn(self, pid: int, parent: FakeProcess | None = None) -> FakeProcess:
        self.processes[pid] = FakeProcess(pid, parent)
        return self.processes[pid]

    def end(self, process: FakeProcess) -> None:
        """The process ends and its parent waits for it."""
        process.is_gone = True
        del self.processes[process.pid]
        if process.parent:
            process.parent.reaped_s += process.used_s + process.reaped_s

    def burn(self, process: FakeProcess | None, seconds: float) -> None:
        """A process, or somebody unknown, uses CPU."""
        self.busy_s += seconds
        if process:
            process.used_s += seconds

    # What is asked of psutil.

    def cpu_count(self) -> int:
        return self.cores

    def cpu_times(self, *, percpu: bool) -> list[_CoreTimes]:
        assert percpu
        busy_s, idle_s = self.busy_s / self.cores, self.elapsed_s - self.busy_s / self.cores
        return [_CoreTimes(busy_s / 2, busy_s / 2, idle_s - 1, 1.0, guest=busy_s / 4, guest_nice=0)] * self.cores

    def Process(self, pid: int) -> "_Handle":  # noqa: N802 (psutil's name)
        if pid not in self.processes:
            raise Gone
        return _Handle(self, self.processes[pid])


class _Handle:
    def __init__(self, host: FakeHost, process: FakeProcess) -> None:
        self._host, self._process = host, process
        self.pid, self.create_time, self.cpu_times = process.pid, process.create_time, process.cpu_times

    def children(self, *, recursive: bool) -> list["_Handle"]:
        assert recursive
        self._host.looks += 1
        return [_Handle(self._host, process) for process in self._below(self._process)]

    def _below(self, parent: FakeProcess) -> Iterator[FakeProcess]:
        for process in list(self._host.processes.values()):
            if process.parent is parent:
                yield process
                yield from self._below(process)
