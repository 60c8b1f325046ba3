"""One thread that measures the host once a second, and says when it is over a watermark."""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pipeline.workers.cpu import CpuFigures
from pipeline.workers.gpu_probe import GpuFigures
from pipeline.workers.memory import MemoryFigures
from pipeline.workers.watermark import Watermark

log = logging.getLogger(__name__)

#: Seconds between two samples.
PERIOD_S = 1.0

CPU_OVER = "CPU over its watermark"
MEMORY_OVER = "memory over its watermark"
GPU_MEMORY_OVER = "GPU memory over its watermark"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class HostFigures:
    """One sample; None is what could not be measured, or is not there."""

    cpu: CpuFigures | None = None
    memory: MemoryFigures | None = None
    gpu: GpuFigures | None = None


#: What each reason to hold is judged by, in percent.
Judged = Mapping[str, tuple[Watermark, Callable[[HostFigures], float | None]]]


@dataclass(frozen=True, slots=True)
class Probes:
    """What is read for each sample; a probe that raises costs its own figures only."""

    cpu: Callable[[], CpuFigures]
    memory: Callable[[], MemoryFigures]
    gpu: Callable[[], GpuFigures | None]


class Sampler:
    """Keeps the newest sample, and the reasons for which the host should be given nothing more to do.

    Args:
        judged: watermarks by the reason they give.
        period_s: seconds between two samples.
    """

    def __init__(self, probes: Probes, judged: Judged, *, period_s: float = PERIOD_S) -> None:
        self._probes = probes
        self._judged = judged
        self._period_s = period_s
        self._stopped = threading.Event()
        self._failed: set[str] = set()
        self.figures = HostFigures()
        self.reasons: frozenset[str] = frozenset()

    def start(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Take a first sample now, and then one each period until `stop`.

        Args:
            tell: called with all reasons each time they have changed.
        """
        told = self.sample()
        if told:
            tell(told)
        threading.Thread(target=self._sample_on, args=(tell, told), name="host-sampler", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def sample(self) -> frozenset[str]:
        """Measure, weigh and return the reasons to hold; never raises."""
        self.figures = HostFigures(
            self._read("CPU", self._probes.cpu),
            self._read("memory", self._probes.memory),
            self._read("GPU", self._probes.gpu),
        )
        self.reasons = frozenset(
            [reason for reason, (mark, figure_of) in self._judged.items() if mark.weigh(figure_of(self.figures))]
        )
        return self.reasons

    def _sample_on(self, tell: Callable[[frozenset[str]], None], told: frozenset[str]) -> None:
        while not self._stopped.wait(self._period_s):
            if self.sample() != told:
                told = self.reasons
                tell(told)

    def _read(self, name: str, probe: Callable[[], _T]) -> _T | None:
        try:
            figures = probe()
        except Exception as exc:  # noqa: BLE001 (a host that cannot be measured still works)
            if name not in self._failed:
                log.warning("%s cannot be measured, and holds nothing: %s: %s", name, type(exc).__name__, exc)
            self._failed.add(name)
            return None
        self._failed.discard(name)
        return figures
