"""The engine's own process: what runs in a child of the pool, and how it ends with its parent.

Imported by the parent too, so no engine is imported here before a child builds one.
"""

import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import NamedTuple

import psutil

from pipeline.clock import SystemClock
from pipeline.errors import EngineCrashed, EngineMemory, FairlaneError
from pipeline.ocr.choice import PaddleChoice
from pipeline.ocr.engine import Engine
from pipeline.ocr.images import ImageLimits
from pipeline.ocr.types import OcrResult

Reader = Callable[[bytes], OcrResult]
#: Builds the reader inside the child, from a number of threads and the limits. A plain function of a module, since the
#: child finds it by its name.
ReaderFactory = Callable[[int, ImageLimits], Reader]

#: How a child ends itself that has outgrown its limit; no signal and no exit of Python's own gives this code.
EXIT_OUTGROWN = 86
#: How often a child looks at its own memory, seconds: 30 µs each time, and what is taken in between stays bounded.
_MEMORY_LOOK_S = 0.1

#: mallopt(3): above which size memory comes from the kernel and goes back to it at once, and from how much that is free
#: on it goes back. A picture takes and frees hundreds of megabytes; taking them anew costs 5 % of its CPU time.
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1
_MMAP_FROM_BYTES, _TRIM_FROM_BYTES = 1 << 30, 1 << 29

#: prctl(2): the signal this process gets when the thread that started it ends.
_PR_SET_PDEATHSIG = 1


class _Child:
    """What this process has: a reader, or the reason why there is none."""

    def __init__(self) -> None:
        self.reader: Reader | None = None
        self.failure: FairlaneError = EngineCrashed("the engine's process was never begun")

    def require_reader(self) -> Reader:
        if self.reader is None:
            raise self.failure
        return self.reader


_this = _Child()


class Reading(NamedTuple):
    """What a read gives, and how large the child was after it, resident bytes."""

    result: OcrResult
    rss_bytes: int


def begin(factory: ReaderFactory, threads: int, limits: ImageLimits, memory_limit_bytes: int) -> None:
    """Tie this process to its parent and its limit, then build the reader; a failure is kept for `ready` and `read`."""
    _die_with_parent()
    keep_freed_memory()
    threading.Thread(target=_stay_below, args=(memory_limit_bytes,), name="memory-watch", daemon=True).start()
    # A signal to the worker's whole group must not end a read: the worker decides when to stop.
    with contextlib.suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What Pillow remarks on odd files would fill the worker's log; what is wrong with them goes into the error.
    warnings.simplefilter("ignore")
    logging.getLogger("PIL").setLevel(logging.CRITICAL)
    try:
        _this.reader = factory(threads, limits)
    except Exception as exc:  # noqa: BLE001 - kept, and raised by `ready` and `read`
        _this.failure = _as_our_own(exc)


def ready() -> int:
    """Return the process id once the reader stands; raise what kept it from standing."""
    _this.require_reader()
    return os.getpid()


def read(data: bytes) -> Reading:
    """Read one image with this child's reader; what goes wrong arrives in the parent as one of our own errors."""
    reader = _this.require_reader()
    try:
        return Reading(reader(data), _rss_bytes())
    except Exception as exc:
        raise _as_our_own(exc) from exc


def build_rapid_reader(threads: int, limits: ImageLimits) -> Reader:
    """Build the CPU engine and let it read a small picture, so that the first image finds it warm.

    Raises: ConfigurationError when it can't be built or can't read that picture.
    """
    from pipeline.ocr.rapid import RapidEngine

    return _reader_of(RapidEngine(threads), limits)


def build_paddle_reader(threads: int, limits: ImageLimits, *, choice: PaddleChoice) -> Reader:
    """Build PaddleOCR as it was chosen and let it read a small picture, so that the first image finds it warm.

    Raises: ConfigurationError, as above; GpuLost when it is the GPU that can't be used.
    """
    from pipeline.ocr.paddle import PaddleEngine

    return _reader_of(PaddleEngine(choice.models, choice.device, threads), limits)


def _reader_of(engine: Engine, limits: ImageLimits) -> Reader:
    from pipeline.ocr.reading import check_engine, read_image

    check_engine(engine)
    clock = SystemClock()
    return lambda data: read_image(data, limits, engine, clock)


def _as_our_own(exc: Exception) -> FairlaneError:
    # A foreign exception may not survive the way to the parent, and one that does not would break the pool.
    if isinstance(exc, FairlaneError):
        return exc
    if isinstance(exc, MemoryError):
        return EngineMemory(f"the engine got no more memory: {str(exc)[:300]}")
    return EngineCrashed(f"{type(exc).__name__}: {str(exc)[:300]}")


def keep_freed_memory() -> None:
    """Let this process keep up to half a gigabyte of what it frees; where the C library is not glibc, nothing."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if sys.platform == "linux" and mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MMAP_FROM_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _TRIM_FROM_BYTES)


def _die_with_parent() -> None:
    """End this process when its parent ends, however that ends.

    The kernel does it on Linux, even while native code holds the interpreter; the watching thread does it elsewhere.
    """
    parent = parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent.pid:  # it ended before the kernel knew of the wish
            os._exit(1)
    threading.Thread(target=_watch, args=(parent.sentinel,), name="parent-watch", daemon=True).start()


def _stay_below(limit_bytes: int) -> None:
    """End this process once it is larger than that: the image it reads is poison, and the host is for all."""
    pause = threading.Event()
    while _rss_bytes() <= limit_bytes:
        pause.wait(_MEMORY_LOOK_S)
    os._exit(EXIT_OUTGROWN)


def _rss_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


def _watch(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
