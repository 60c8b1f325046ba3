"""Engines in child processes: a crash, a hang or a leak ends one child, and the worker goes on.

Each slot is a pebble pool of one child. A shared pool would be simpler, but there a child killed while it holds the
pool's lock blocks its successors, and one killed while idle breaks the pool for all.
"""

import logging
import multiprocessing
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.util import Finalize
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from pipeline.errors import EngineCrashed, EngineMemory, EngineTimeout
from pipeline.ocr import child
from pipeline.ocr.images import ImageLimits
from pipeline.ocr.types import OcrResult

_log = logging.getLogger(__name__)

#: Seconds a child may take to start and build its engine; 2 s were measured on an idle core.
_START_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one child may do.

    Args:
        seconds: of one read; then the child is ended.
        reads: after which it is replaced, so that a leak stays bounded.
        recycle_bytes: resident size over which it is replaced after a read.
        memory_bytes: resident size at which it is ended, also amid a read.
    """

    seconds: float
    reads: int
    recycle_bytes: int = 2_000_000_000
    memory_bytes: int = 4_000_000_000


class OcrPool:
    """Reads images in `slots` child processes; safe to share between threads.

    Args:
        slots: children, hence images read at once, 1..64.
        threads: of the engine in each child, 1..64.
        limits: what is refused before it is decoded.
        factory: builds the reader in each child.
    """

    def __init__(
        self,
        *,
        slots: int,
        threads: int,
        child_limits: ChildLimits,
        limits: ImageLimits,
        factory: child.ReaderFactory = child.build_rapid_reader,
    ) -> None:
        # NOTE: the kernel ends a child when the *thread* that started it ends; this one lives as long as the pool.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="ocr-starter")
        self._limits = child_limits

        def start() -> ProcessPool:
            how = (factory, threads, limits, child_limits.memory_bytes)
            return self._starter.submit(_start_pool, child_limits.reads, how).result()

        self._slots = [_Slot(start) for _ in range(slots)]
        self._free: queue.Queue[_Slot] = queue.Queue()
        for slot in self._slots:
            self._free.put(slot)
        # NOTE: a process that forgets to close the pool, as one that is told twice to stop, would wait for its children
        # for ever: multiprocessing joins them at exit, and pebble replaces each that ends.
        self._at_exit = Finalize(None, self._end_children, exitpriority=10)

    def warm_up(self) -> list[int]:
        """Return the process ids of the children once every one of them has its engine and has read a picture.

        Raises: ConfigurationError when the engine can't be built, EngineTimeout, EngineCrashed.
        """
        with ThreadPoolExecutor(len(self._slots), thread_name_prefix="ocr-warm-up") as threads:
            return list(threads.map(lambda slot: slot.run(child.ready, (), _START_LIMIT_S), self._slots))

    def read(self, data: bytes) -> OcrResult:
        """Read one image, waiting for a free slot; decoding and reading both happen in the child.

        Raises: BadImage and its kinds; EngineTimeout when it passed the hard limit; EngineMemory when it outgrew its
            memory; EngineCrashed when the child died or its engine can't go on. After each the next read works.
        """
        slot = self._free.get()
        try:
            reading: child.Reading = slot.run(child.read, (data,), self._limits.seconds)
            if reading.rss_bytes > self._limits.recycle_bytes:
                slot.replace(f"it has grown to {reading.rss_bytes >> 20} MiB")
            return reading.result
        finally:
            self._free.put(slot)

    def close(self) -> None:
        """End every child, also one that is reading: that read ends with EngineCrashed. Closing twice does no harm."""
        self._at_exit.cancel()
        self._end_children()

    def _end_children(self) -> None:
        for slot in self._slots:
            slot.close()
        self._starter.shutdown(wait=False)


class _Slot:
    """One child process and its successors."""

    def __init__(self, start: Callable[[], ProcessPool]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._is_closed = False
        self._reading: ProcessFuture[Any] | None = None
        #: Begun by the first task: a worker that reads no images has no engine.
        self._pool: ProcessPool | None = None

    def run(self, function: Callable[..., Any], args: tuple[object, ...], limit_s: float) -> Any:
        """Return what `function` returns in the child; its errors arrive as they are."""
        try:
            return self._run_once(function, args, limit_s)
        except BrokenProcessPool:
            # The child was found dead while it had no task, so this task can't have killed it: the next child gets it.
            self.replace("it ended while it had nothing to do")
        try:
            return self._run_once(function, args, limit_s)
        except BrokenProcessPool as exc:
            self.replace("it ended before it began to read")
            raise EngineCrashed("the engine's process ended before it began to read") from exc

    def _run_once(self, function: Callable[..., Any], args: tuple[object, ...], limit_s: float) -> Any:
        try:
            # The limit counts from when the child takes the task, so that its start is not charged to the image.
            future = self._schedule(function, args, limit_s)
            return future.result(timeout=limit_s + _START_LIMIT_S)
        except TimeoutError as exc:
            if not future.done():  # not the hard limit: the child never took the task
                self.replace("it did not begin to read")
            raise EngineTimeout(f"the engine did not finish within {limit_s:g} s") from exc
        except ProcessExpired as exc:
            self.replace(f"exit code {exc.exitcode}")
            if exc.exitcode == child.EXIT_OUTGROWN:
                raise EngineMemory("the engine took more memory than it may") from exc
            raise EngineCrashed(f"the engine's process ended with exit code {exc.exitcode}") from exc
        except CancelledError as exc:
            raise EngineCrashed("the engine's process was ended") from exc
        except (EngineCrashed, EngineMemory) as exc:
            self.replace(str(exc))  # only the end of the process surely frees its memory
            raise

    def _schedule(self, function: Callable[..., Any], args: tuple[object, ...], limit_s: float) -> ProcessFuture[Any]:
        with self._lock:
            if self._is_closed:
                raise EngineCrashed("the OCR pool is closed")
            if self._pool is None:
                self._pool = self._start()
            try:
                self._reading = self._pool.schedule(function, args=args, timeout=limit_s)
            except RuntimeError as exc:
                raise BrokenProcessPool(str(exc)) from exc
            return self._reading

    def replace(self, why: str) -> None:
        """End the child and start another."""
        with self._lock:
            if not self._is_closed:
                _log.warning("the engine's process is replaced: %s", why)
                self._end()
                self._pool = self._start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._end()
            if self._reading is not None:
                self._reading.cancel()  # type: ignore[no-untyped-call]  # a stopped pool leaves it open

    def _end(self) -> None:
        if self._pool is not None:
            _stop_pool(self._pool)
            self._pool = None


def _start_pool(reads: int, initargs: tuple[object, ...]) -> ProcessPool:
    pool = ProcessPool(
        max_workers=1,
        max_tasks=reads,
        initializer=child.begin,
        initargs=initargs,
        context=multiprocessing.get_context("spawn"),
    )
    if not pool.active:  # asking starts the child, here and not in the thread that first has a task
        raise EngineCrashed("the engine's process can't be started")
    return pool


def _stop_pool(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
