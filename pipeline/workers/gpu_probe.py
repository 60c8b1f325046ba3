"""How busy one GPU is: by NVML, by GPUtil where that is missing, or not at all."""

import importlib
import logging
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

log = logging.getLogger(__name__)

#: Seconds a reading may take. A driver that hangs, or nvidia-smi, which GPUtil runs without a limit, hangs for ever.
_LIMIT_S = 2.0

#: Readings after which a GPU that was lost is asked for again.
_READINGS_PER_RETRY = 60


@dataclass(frozen=True, slots=True)
class GpuFigures:
    """Shares in percent, 0..100; None where the device does not say (a MIG part knows no utilisation)."""

    util_percent: float | None
    memory_percent: float | None


class _Library(Protocol):
    def read(self) -> GpuFigures | None: ...


class _Nvml:
    """nvidia-ml-py: begun once, and anew after an error, since a driver may have been exchanged."""

    def __init__(self, nvml: Any, index: int) -> None:
        self._nvml = nvml
        self._index = index
        self._is_begun = False

    def read(self) -> GpuFigures | None:
        if not self._is_begun:
            self._nvml.nvmlInit()
            self._is_begun = True
        try:
            return self._figures()
        except self._nvml.NVMLError:
            self._is_begun = False
            self._nvml.nvmlShutdown()
            raise

    def _figures(self) -> GpuFigures | None:
        nvml = self._nvml
        if nvml.nvmlDeviceGetCount() <= self._index:
            return None
        handle = nvml.nvmlDeviceGetHandleByIndex(self._index)
        memory = self._of(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        rates = self._of(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        return GpuFigures(
            None if rates is None else float(rates.gpu),
            None if memory is None else 100 * memory.used / memory.total,
        )

    def _of(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except self._nvml.NVMLError_NotSupported:
            return None


class _GpuUtil:
    """GPUtil, which runs nvidia-smi for each reading and writes NaN for what that does not say."""

    def __init__(self, gputil: Any, index: int) -> None:
        self._gputil = gputil
        self._index = index

    def read(self) -> GpuFigures | None:
        for gpu in self._gputil.getGPUs():
            if gpu.id == self._index:
                return GpuFigures(_percent(gpu.load), _percent(gpu.memoryUtil))
        return None


class GpuProbe:
    """Reads one GPU; without a library, a driver or a device it says None and costs nothing.

    The reading runs in a thread of its own for as long as it may take, so that one that hangs cannot keep the CPU from
    being watched; it exists only on hosts with one of the libraries.

    Args:
        index: of the device, as NVML and nvidia-smi count.
        load: imports a module by its name.
    """

    def __init__(
        self,
        index: int = 0,
        *,
        load: Callable[[str], ModuleType] = importlib.import_module,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._libraries = list(_find_libraries(index, load))
        self._limit_s = limit_s
        self._pending: Future[GpuFigures | None] | None = None
        self._is_late = False
        self._until_retry = 0
        self._complaints: set[str] = set()

    def read(self) -> GpuFigures | None:
        """Return the figures, or None when there is no GPU that answers; never raises."""
        if not self._libraries:
            return None
        if self._pending is None:
            if self._until_retry > 0:
                self._until_retry -= 1
                return None
            self._pending = _begin(self._read_first)
        try:
            # One that is late already is not waited for again: the CPU is to be looked at every second.
            figures = self._pending.result(0 if self._is_late else self._limit_s)
        except TimeoutError:
            self._is_late = True
            self._complain(f"the GPU does not answer within {self._limit_s:g} s")
            return None  # still pending: the next reading asks for it again, and begins nothing new
        self._pending, self._is_late = None, False
        if figures is None:
            self._until_retry = _READINGS_PER_RETRY
        return figures

    def _read_first(self) -> GpuFigures | None:
        for library in self._libraries:
            try:
                figures = library.read()
            except Exception as exc:  # noqa: BLE001 (whatever a driver says, the worker goes on)
                self._complain(f"no GPU by {type(library).__name__.strip('_')}: {type(exc).__name__}: {exc}")
                continue
            if figures is not None:
                return figures
        return None

    def _complain(self, words: str) -> None:
        if words not in self._complaints:
            self._complaints.add(words)
            log.warning(words)


def _find_libraries(index: int, load: Callable[[str], ModuleType]) -> list[_Library]:
    kinds: dict[str, Callable[[Any, int], _Library]] = {"pynvml": _Nvml, "GPUtil": _GpuUtil}
    found = []
    for name, kind in kinds.items():
        try:
            found.append(kind(load(name), index))
        except ImportError:  # not installed; GPUtil also without `distutils`, which is gone from Python 3.12 on
            continue
    return found


def _begin(call: Callable[[], GpuFigures | None]) -> Future[GpuFigures | None]:
    future: Future[GpuFigures | None] = Future()
    # A daemon, so that a driver that hangs cannot keep the process from ending.
    threading.Thread(target=lambda: future.set_result(call()), name="gpu-reading", daemon=True).start()
    return future


def _percent(share: float) -> float | None:
    return None if math.isnan(share) else 100 * share
