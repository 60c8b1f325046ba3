"""This process's entry in the worker registry."""

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline import __version__
from pipeline.clock import Clock
from pipeline.queue import Lane, Roster
from pipeline.workers.own import machine_name
from pipeline.workers.sampler import HostFigures

#: Lists of words that an entry tells about.
_FAULTS_TOLD_MAX = 10


@dataclass(frozen=True, slots=True)
class Registration:
    """What stays the same while a worker lives.

    Args:
        threads: declared concurrency.
        slots: by lane, what can really run at once.
    """

    lanes: tuple[str, ...]
    threads: int
    slots: Mapping[Lane, int]

    @property
    def effective(self) -> int:
        return sum(self.slots.values())


@dataclass(frozen=True, slots=True)
class Condition:
    """What changes while a worker lives.

    Args:
        active_tasks: slots in which something runs.
        holds: why it claims nothing now.
        is_held: it claims nothing of any of its lanes; else `holds` concerns some of them.
        engine: that reads the next image: rapid, paddle or none.
        is_on_gpu: it computes on a GPU.
        word_faults: lists of words that it cannot load, and why.
    """

    active_tasks: int
    holds: Sequence[str] = ()
    is_held: bool = False
    engine: str = "none"
    is_on_gpu: bool = False
    figures: HostFigures = field(default_factory=HostFigures)
    word_faults: Sequence[str] = ()


class WorkerRegistry:
    """Announces one worker process.

    Args:
        ttl_ms: how long an entry is believed without another.
    """

    def __init__(self, roster: Roster, clock: Clock, *, ttl_ms: int) -> None:
        self._roster = roster
        self._clock = clock
        self._ttl_ms = ttl_ms
        self._hostname = socket.gethostname()
        self._machine = machine_name()

    @property
    def worker_id(self) -> str:
        return f"{self._hostname}:{os.getpid()}"

    def beat(self, registration: Registration, condition: Condition) -> None:
        """Write the entry anew.

        Raises: QueueUnavailable.
        """
        active = condition.active_tasks
        entry = {
            "hostname": self._hostname,
            "pid": str(os.getpid()),
            "machine": self._machine,
            "queues": ",".join(registration.lanes),
            "state": "held" if condition.is_held else "working",
            "holds": "; ".join(condition.holds),
            "declared_concurrency": str(registration.threads),
            "effective_concurrency": str(registration.effective),
            "lane_slots": " ".join(f"{lane}={count}" for lane, count in sorted(registration.slots.items())),
            "active_tasks": str(active),
            "idle_slots": str(max(registration.effective - active, 0)),
            "engine": condition.engine,
            "gpu_available": "1" if condition.is_on_gpu else "0",
            "last_heartbeat": str(self._clock.now_ms()),
            "version": __version__,
            "word_faults": "\n".join(condition.word_faults[:_FAULTS_TOLD_MAX]),
            **words_of(condition.figures),
        }
        self._roster.enter(self.worker_id, entry, ttl_ms=self._ttl_ms)

    def siblings(self) -> list[int]:
        """The process ids of the live workers that share our process table, ours among them.

        Raises: QueueUnavailable.
        """
        return self._roster.pids_beside(self._hostname, self._machine) if self._machine else []

    def leave(self) -> None:
        """Remove the entry at once."""
        self._roster.leave(self.worker_id)


def words_of(figures: HostFigures) -> dict[str, str]:
    """A sample in the words of the registry; empty is what is not known."""
    cpu, memory, gpu = figures.cpu, figures.memory, figures.gpu
    return {
        "cpu_count": _number(cpu.count) if cpu else "",
        "cpu_percent": _percent(cpu.percent if cpu else None),
        "cpu_others_percent": _percent(cpu.others_percent if cpu else None),
        "memory_total": str(memory.total_bytes) if memory else "",
        "memory_available": str(memory.available_bytes) if memory else "",
        "memory_percent": _percent(memory.percent if memory else None),
        "gpu_util": _percent(gpu.util_percent if gpu else None),
        "gpu_memory_util": _percent(gpu.memory_percent if gpu else None),
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1f}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"
