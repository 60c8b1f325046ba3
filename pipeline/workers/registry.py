"""This process's entry in the worker registry."""

import os
import socket
from dataclasses import dataclass

from pipeline import __version__
from pipeline.clock import Clock
from pipeline.queue import Roster
from pipeline.workers.resources import host_figures


@dataclass(frozen=True, slots=True)
class Registration:
    """What stays the same while a worker lives.

    Args:
        threads: declared concurrency.
        effective: what can really run at once.
        engine: rapid, paddle or none.
    """

    lanes: tuple[str, ...]
    threads: int
    effective: int
    engine: str


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

    @property
    def worker_id(self) -> str:
        return f"{self._hostname}:{os.getpid()}"

    def beat(self, registration: Registration, *, active_tasks: int) -> None:
        """Write the entry anew.

        Raises: QueueUnavailable.
        """
        entry = {
            "hostname": self._hostname,
            "pid": str(os.getpid()),
            "queues": ",".join(registration.lanes),
            "declared_concurrency": str(registration.threads),
            "effective_concurrency": str(registration.effective),
            "active_tasks": str(active_tasks),
            "idle_slots": str(max(registration.effective - active_tasks, 0)),
            "engine": registration.engine,
            "gpu_available": "0",
            "last_heartbeat": str(self._clock.now_ms()),
            "version": __version__,
            **host_figures(),
        }
        self._roster.enter(self.worker_id, entry, ttl_ms=self._ttl_ms)

    def leave(self) -> None:
        """Remove the entry at once."""
        self._roster.leave(self.worker_id)
