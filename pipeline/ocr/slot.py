"""One engine child and its successors: replaced when it crashed or hangs, and in good time before it wears out."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from pipeline.errors import EngineCrashed, EngineMemory, EngineTimeout, FairlaneError, GpuLost
from pipeline.ocr import child
from pipeline.ocr.types import OcrResult

_log = logging.getLogger(__name__)

#: Seconds a child may take to start and build its engine; 2 s were measured on an idle core, 14 s for Paddle.
START_LIMIT_S = 60.0


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


class Slot:
    """One child process and its successors; one thread reads at a time, others may end or renew it meanwhile.

    A child that wears out reads on until its successor is warm, so that replacing it costs no time of the slot. Both
    exist for as long as the successor needs to start, and no longer.

    Args:
        start: begins a pool of one child.
    """

    def __init__(self, start: Callable[[], ProcessPool], limits: ChildLimits) -> None:
        self._start = start
        self._limits = limits
        self._lock = threading.Lock()
        self._is_closed = False
        self._is_reading = False
        self._reading: ProcessFuture[Any] | None = None
        #: Begun by the first task: a worker that reads no images has no engine.
        self._pool: ProcessPool | None = None
        self._reads = 0
        #: Warm, and to take over before the next read.
        self._successor: ProcessPool | None = None
        self._is_raising = False

    def read(self, data: bytes) -> OcrResult:
        """Read one image; see `OcrPool.read`."""
        self._take_over(is_reading=True)
        try:
            reading: child.Reading = self._run(child.read, (data,), self._limits.seconds)
        finally:
            with self._lock:
                self._is_reading = False
        self._reads += 1
        if reading.rss_bytes > self._limits.recycle_bytes:
            self._raise_successor(f"it has grown to {reading.rss_bytes >> 20} MiB")
        elif self._reads >= self._limits.reads:
            self._raise_successor(f"it has read {self._reads} images")
        return reading.result

    def warm_up(self) -> int:
        """Return the child's process id once it has its engine and has read a picture; see `OcrPool.warm_up`."""
        return int(self._run(child.ready, (), START_LIMIT_S))

    def end_child(self, *, is_replaced: bool) -> bool:
        """End the child, which reads nothing now; say whether there was one. The next read, or this, begins another."""
        with self._lock:
            if self._is_closed or self._pool is None:
                return False
            self._end()
            if is_replaced:
                self._pool = self._start()
            return True

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._end()
            if self._reading is not None:
                self._reading.cancel()  # type: ignore[no-untyped-call]  # a stopped pool leaves it open

    def _run(self, function: Callable[..., Any], args: tuple[object, ...], limit_s: float) -> Any:
        """Return what `function` returns in the child; its errors arrive as they are."""
        try:
            return self._run_once(function, args, limit_s)
        except BrokenProcessPool:
            # The child was found dead while it had no task, so this task can't have killed it: the next child gets it.
            self._replace("it ended while it had nothing to do")
        try:
            return self._run_once(function, args, limit_s)
        except BrokenProcessPool as exc:
            self._replace("it ended before it began to read")
            raise EngineCrashed("the engine's process ended before it began to read") from exc

    def _run_once(self, function: Callable[..., Any], args: tuple[object, ...], limit_s: float) -> Any:
        try:
            # The limit counts from when the child takes the task, so that its start is not charged to the image.
            future = self._schedule(function, args, limit_s)
            return future.result(timeout=limit_s + START_LIMIT_S)
        except TimeoutError as exc:
            if not future.done():  # not the hard limit: the child never took the task
                self._replace("it did not begin to read")
            raise EngineTimeout(f"the engine did not finish within {limit_s:g} s") from exc
        except ProcessExpired as exc:
            self._replace(f"exit code {exc.exitcode}")
            if exc.exitcode == child.EXIT_OUTGROWN:
                raise EngineMemory("the engine took more memory than it may") from exc
            raise EngineCrashed(f"the engine's process ended with exit code {exc.exitcode}") from exc
        except CancelledError as exc:
            raise EngineCrashed("the engine's process was ended") from exc
        except GpuLost:
            # Not replaced: whoever reads on with the CPU says when the GPU is tried again.
            with self._lock:
                self._end()
            raise
        except (EngineCrashed, EngineMemory) as exc:
            self._replace(str(exc))  # only the end of the process surely frees its memory
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

    def _replace(self, why: str) -> None:
        """End the child and begin another: the successor, if it is warm already."""
        with self._lock:
            if not self._is_closed:
                _log.warning("the engine's process is replaced: %s", why)
                successor, self._successor = self._successor, None
                self._end()
                self._pool = successor or self._start()

    def _raise_successor(self, why: str) -> None:
        with self._lock:
            if self._is_closed or self._is_raising or self._successor is not None:
                return
            self._is_raising = True
        _log.info("the engine's process gets a successor: %s", why)
        threading.Thread(target=self._raise, name="ocr-successor", daemon=True).start()

    def _raise(self) -> None:
        pool = None
        try:
            pool = self._start()
            pool.schedule(child.ready, args=(), timeout=START_LIMIT_S).result(START_LIMIT_S)
        except (FairlaneError, ProcessExpired, TimeoutError, CancelledError, RuntimeError) as exc:
            # The old one reads on, and after its next read this is tried again.
            _log.warning("the successor did not get ready: %s", exc)
            if pool is not None:
                stop_pool(pool)
            pool = None
        with self._lock:
            self._is_raising = False
            if pool is not None and not self._is_closed:
                self._successor, pool = pool, None
        if pool is not None:
            stop_pool(pool)
        self._take_over(is_reading=False)

    def _take_over(self, *, is_reading: bool) -> None:
        """Let a warm successor take over, unless the old one is in the middle of a read."""
        with self._lock:
            old = None
            if not self._is_reading and self._successor is not None:
                old, self._pool, self._successor, self._reads = self._pool, self._successor, None, 0
            self._is_reading = self._is_reading or is_reading
        if old is not None:
            # The read that waits for this slot doesn't wait for the old child's end.
            threading.Thread(target=stop_pool, args=(old,), name="ocr-retired", daemon=True).start()

    def _end(self) -> None:
        self._reads = 0
        for pool in (self._pool, self._successor):
            if pool is not None:
                stop_pool(pool)
        self._pool = self._successor = None


def stop_pool(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
