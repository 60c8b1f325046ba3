"""Puts the probes, the watermarks and the sampler of one worker process together, from the settings."""

from collections.abc import Callable

from pipeline.clock import Clock
from pipeline.settings import Settings
from pipeline.workers.cgroup import Cgroup
from pipeline.workers.cpu import CpuProbe
from pipeline.workers.gpu_probe import GpuProbe
from pipeline.workers.memory import MemoryProbe
from pipeline.workers.own import OwnProcesses
from pipeline.workers.sampler import CPU_OVER, GPU_MEMORY_OVER, MEMORY_OVER, HostFigures, Judged, Probes, Sampler
from pipeline.workers.watermark import Watermark


def open_sampler(settings: Settings, clock: Clock, own: OwnProcesses, *, uses_gpu: Callable[[], bool]) -> Sampler:
    """Return a sampler of this host.

    Args:
        own: whose load is not that of others.
        uses_gpu: whether the engine computes on the GPU now; else its memory is shown, but holds nothing.
    """
    cgroup = Cgroup()
    cpu = CpuProbe(cgroup, own, clock, doubt_percent=settings.worker_cpu_high_watermark)
    probes = Probes(cpu.read, MemoryProbe(cgroup).read, GpuProbe(settings.worker_gpu_index).read)
    return Sampler(probes, _judged(settings, uses_gpu))


def _judged(settings: Settings, uses_gpu: Callable[[], bool]) -> Judged:
    return {
        CPU_OVER: (
            Watermark(settings.worker_cpu_high_watermark, settings.worker_cpu_low_watermark),
            _cpu_of_others if settings.worker_cpu_counts == "others" else _cpu_of_all,
        ),
        MEMORY_OVER: (Watermark(settings.worker_mem_high_watermark, settings.worker_mem_low_watermark), _memory),
        GPU_MEMORY_OVER: (
            Watermark(settings.worker_gpu_mem_high_watermark, settings.worker_gpu_mem_low_watermark),
            lambda figures: figures.gpu.memory_percent if figures.gpu and uses_gpu() else None,
        ),
    }


def _cpu_of_others(figures: HostFigures) -> float | None:
    return figures.cpu.others_percent if figures.cpu else None


def _cpu_of_all(figures: HostFigures) -> float | None:
    return figures.cpu.percent if figures.cpu else None


def _memory(figures: HostFigures) -> float | None:
    return figures.memory.percent if figures.memory else None
