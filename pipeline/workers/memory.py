"""How much memory is left: of the host, or of the control group when that is tighter."""

from dataclasses import dataclass
from typing import Any

import psutil

from pipeline.workers.cgroup import Cgroup


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Of whatever runs out first."""

    total_bytes: int
    available_bytes: int

    @property
    def percent(self) -> float:
        """The share that is taken, 0..100."""
        return 100 * (1 - self.available_bytes / self.total_bytes)


class MemoryProbe:
    """Reads host and control group.

    Args:
        processes: the module psutil, or what stands for it.
    """

    def __init__(self, cgroup: Cgroup, processes: Any = psutil) -> None:
        self._cgroup = cgroup
        self._processes = processes

    def read(self) -> MemoryFigures:
        """Return total and available bytes of the one that has the fewest left."""
        host = self._processes.virtual_memory()
        limits = self._cgroup.memory_limits()
        bound = [MemoryFigures(limit.limit_bytes, max(0, limit.limit_bytes - limit.used_bytes)) for limit in limits]
        return min([MemoryFigures(host.total, host.available), *bound], key=lambda figures: figures.available_bytes)
