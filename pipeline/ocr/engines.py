"""The engines of one worker: the GPU's for as long as it works, the CPU's in the same call when it does not."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pipeline import __version__
from pipeline.clock import Clock
from pipeline.errors import EngineFailure, GpuLost
from pipeline.ocr.child import ReaderFactory, build_paddle_reader, build_rapid_reader
from pipeline.ocr.choice import choose_paddle
from pipeline.ocr.images import image_limits
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from pipeline.ocr.types import OcrResult
from pipeline.settings import Settings

_log = logging.getLogger(__name__)

#: How the GPU is tried again: after this long, twice that, and so on up to the longest, milliseconds.
FIRST_RETRY_MS = 5_000
LONGEST_RETRY_MS = 300_000
#: A GPU that failed again sooner than this was not well: the next pause is longer than the last.
_WELL_MS = 60_000


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool of one engine.

    Args:
        name: of the engine, for the registry: rapid or paddle.
        recipe: all that a reading of it depends on, besides the image: two pools with the same recipe read alike.
    """

    name: str
    pool: OcrPool
    recipe: str = ""


class OcrEngines:
    """Reads images with the GPU where there is one, else with the CPU; safe to share between threads.

    When the GPU fails, the call is made again on the CPU, the GPU's children are ended, so that its memory returns, and
    the GPU is tried again after a pause that grows while it keeps failing.

    Args:
        cpu: its children begin with the first image that needs them, unless there is no GPU.
        gpu: None where no engine computes on one.
    """

    def __init__(
        self,
        cpu: NamedPool,
        gpu: NamedPool | None,
        clock: Clock,
        *,
        first_retry_ms: int = FIRST_RETRY_MS,
    ) -> None:
        self._cpu = cpu
        self._gpu = gpu
        self._clock = clock
        self._first_retry_ms = first_retry_ms
        self._lock = threading.Lock()
        self._is_on_gpu = gpu is not None
        self._is_closed = threading.Event()
        self._pause_ms = 0
        self._won_ms = 0
        self._watchers: list[Callable[[], None]] = []

    @property
    def is_on_gpu(self) -> bool:
        """Whether the next image is read on the GPU."""
        return self._is_on_gpu

    @property
    def name(self) -> str:
        """Which engine the next image is read by: rapid or paddle."""
        return self._used().name

    @property
    def recipe(self) -> str:
        """All that the reading of the next image depends on, besides the image."""
        return self._used().recipe

    def watch(self, tell: Callable[[], None]) -> None:
        """Call `tell` whenever the GPU was lost or won back; from any thread, and it must not block."""
        self._watchers.append(tell)

    def warm_up(self, *, may_use_gpu: bool = True) -> None:
        """Return once an engine is ready: the GPU's, or the CPU's if that fails.

        Args:
            may_use_gpu: else this worker reads on the CPU for as long as it lives.
        Raises: ConfigurationError when an engine can't be built at all; EngineTimeout, EngineCrashed.
        """
        self._is_on_gpu = self._is_on_gpu and may_use_gpu
        if self._gpu is not None and self._is_on_gpu:
            try:
                self._gpu.pool.warm_up()
            except EngineFailure as exc:
                self._lose(exc)
        if not self._is_on_gpu:
            self._cpu.pool.warm_up()

    def read(self, data: bytes) -> OcrResult:
        """Read one image; see `OcrPool.read`. That the GPU failed is no error of the call."""
        if self._gpu is not None and self._is_on_gpu:
            try:
                return self._gpu.pool.read(data)
            except GpuLost as exc:
                self._lose(exc)
        return self._cpu.pool.read(data)

    def renew_idle(self) -> int:
        """Replace the children that are not reading now, so that their memory is given back; return how many."""
        return sum(pool.end_idle(are_replaced=is_used) for pool, is_used in self._pools())

    def close(self) -> None:
        """End every child; see `OcrPool.close`."""
        self._is_closed.set()
        for pool, _ in self._pools():
            pool.close()

    def _used(self) -> NamedPool:
        return self._gpu if self._gpu is not None and self._is_on_gpu else self._cpu

    def _pools(self) -> list[tuple[OcrPool, bool]]:
        used = self._used()
        return [(one.pool, one is used) for one in (self._cpu, self._gpu) if one is not None]

    def _lose(self, why: EngineFailure) -> None:
        if self._gpu is None or self._is_closed.is_set():
            return
        gpu = self._gpu.pool
        with self._lock:
            is_first = self._is_on_gpu
            self._is_on_gpu = False
            if is_first:
                was_well = self._clock.monotonic_ms() - self._won_ms >= _WELL_MS
                longer_ms = min(2 * self._pause_ms, LONGEST_RETRY_MS)
                self._pause_ms = self._first_retry_ms if was_well or not self._pause_ms else longer_ms
        # Whoever reads on the GPU at this moment finds out by itself, and ends its child when it does.
        gpu.end_idle(are_replaced=False)
        if is_first:
            _log.warning("images are read on the CPU: the GPU failed", extra={"error": str(why)})
            self._tell()
            threading.Thread(target=self._win_back, args=(gpu,), name="gpu-retry", daemon=True).start()

    def _win_back(self, gpu: OcrPool) -> None:
        while not self._is_closed.wait(self._pause_ms / 1000):
            # A child that was reading when the GPU was lost has finished by now, and holds its memory.
            gpu.end_idle(are_replaced=False)
            try:
                gpu.warm_up()
            except EngineFailure as exc:
                gpu.end_idle(are_replaced=False)
                self._pause_ms = min(2 * self._pause_ms, LONGEST_RETRY_MS)
                _log.info("the GPU does not work yet", extra={"error": str(exc), "again_in_ms": self._pause_ms})
                continue
            with self._lock:
                self._won_ms = self._clock.monotonic_ms()
                self._is_on_gpu = True
            _log.warning("images are read on the GPU again")
            self._tell()
            self._cpu.pool.end_idle(are_replaced=False)
            return

    def _tell(self) -> None:
        for tell in self._watchers:
            tell()


def open_engines(
    settings: Settings,
    clock: Clock,
    cpu_factory: ReaderFactory = build_rapid_reader,
    gpu_factory: ReaderFactory | None = None,
) -> OcrEngines:
    """Return the engines that the settings and this host give, none of their children started yet.

    Args:
        gpu_factory: builds the reader on a GPU; else PaddleOCR is chosen, or not, by `choose_paddle`.
    Raises: ConfigurationError.
    """
    limits = image_limits(settings)

    def named(name: str, factory: ReaderFactory, models: object = "") -> NamedPool:
        pool = OcrPool(
            slots=settings.ocr_slots,
            threads=settings.ocr_threads,
            child_limits=ChildLimits(
                settings.ocr_hard_limit_seconds,
                settings.ocr_tasks_per_child,
                settings.ocr_recycle_rss_bytes,
                settings.ocr_memory_limit_bytes,
            ),
            limits=limits,
            factory=factory,
        )
        return NamedPool(name, pool, f"fairlane {__version__}, {name} {models}, {limits}")

    if gpu_factory is not None:
        return OcrEngines(named("rapid", cpu_factory), named("paddle", gpu_factory), clock)
    paddle = choose_paddle(
        settings.ocr_engine,
        models_dir=settings.ocr_models_dir,
        may_fetch=settings.ocr_fetch_models,
        gpu_index=settings.worker_gpu_index,
    )
    if paddle is None:
        return OcrEngines(named("rapid", cpu_factory), None, clock)
    chosen = named("paddle", partial(build_paddle_reader, choice=paddle), paddle.models)
    if paddle.device == "cpu":
        return OcrEngines(chosen, None, clock)
    return OcrEngines(named("rapid", cpu_factory), chosen, clock)
