"""Engines in child processes: a crash, a hang or a leak ends one child, and the worker goes on.

Each slot is a pebble pool of one child. A shared pool would be simpler, but there a child killed while it holds the
pool's lock blocks its successors, and one killed while idle breaks the pool for all.
"""

import contextlib
import multiprocessing
import queue
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.util import Finalize

from pebble import ProcessPool

from pipeline.errors import EngineCrashed
from pipeline.ocr import child
from pipeline.ocr.images import ImageLimits
from pipeline.ocr.slot import ChildLimits, Slot
from pipeline.ocr.types import OcrResult


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

        def start() -> ProcessPool:
            how = (factory, threads, limits, child_limits.memory_bytes)
            return self._starter.submit(_start_pool, how).result()

        self._slots = [Slot(start, child_limits) for _ in range(slots)]
        self._free: queue.Queue[Slot] = queue.Queue()
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
            return list(threads.map(Slot.warm_up, self._slots))

    def read(self, data: bytes) -> OcrResult:
        """Read one image, waiting for a free slot; decoding and reading both happen in the child.

        Raises: BadImage and its kinds; EngineTimeout when it passed the hard limit; EngineMemory when it outgrew its
            memory; EngineCrashed when the child died or its engine can't go on; GpuLost when it was the GPU that
            failed. After each the next read works.
        """
        slot = self._free.get()
        try:
            return slot.read(data)
        finally:
            self._free.put(slot)

    def end_idle(self, *, are_replaced: bool) -> int:
        """End the children that are not reading now, so that their memory is given back; return how many.

        Args:
            are_replaced: each by another at once; else by the next read.
        """
        idle: list[Slot] = []
        with contextlib.suppress(queue.Empty):
            while True:
                idle.append(self._free.get_nowait())
        try:
            return sum(slot.end_child(is_replaced=are_replaced) for slot in idle)
        finally:
            for slot in idle:
                self._free.put(slot)

    def close(self) -> None:
        """End every child, also one that is reading: that read ends with EngineCrashed. Closing twice does no harm."""
        self._at_exit.cancel()
        self._end_children()

    def _end_children(self) -> None:
        for slot in self._slots:
            slot.close()
        self._starter.shutdown(wait=False)


def _start_pool(initargs: tuple[object, ...]) -> ProcessPool:
    pool = ProcessPool(
        max_workers=1,
        initializer=child.begin,
        initargs=initargs,
        context=multiprocessing.get_context("spawn"),
    )
    if not pool.active:  # asking starts the child, here and not in the thread that first has a task
        raise EngineCrashed("the engine's process can't be started")
    return pool
