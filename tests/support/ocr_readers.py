"""Readers that a pool's child can run in place of an engine; found by name in the child."""

import ctypes
import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.clock import SystemClock
from pipeline.errors import BadImage, ConfigurationError, FieldProblem, GpuLost, InvalidInput, QueueFull
from pipeline.ocr.child import Reader
from pipeline.ocr.images import ImageLimits
from pipeline.ocr.reading import read_image
from pipeline.ocr.types import OcrResult
from tests.support.ocr_engines import Scripted, quad

#: Followed by the path of a named pipe, into which the reader says that it has begun, before it hangs.
TELL = b"tell and hang "


def obedient(threads: int, limits: ImageLimits) -> Reader:
    """Does what the image says; answers with its process id as `model`."""
    return _obey


def by_marker(threads: int, limits: ImageLimits) -> Reader:
    """Does what stands behind `MARKER` in a picture that is otherwise a picture, so that it passes the intake."""
    return lambda data: _obey(data.rpartition(MARKER)[2] if MARKER in data else b"image")


def decoding(threads: int, limits: ImageLimits) -> Reader:
    """Does all that the real one does, with an engine that finds three lines anywhere and needs no time."""
    engine = Scripted(lambda pixels: [quad(0, 0, 20, 9), quad(2, 3, 9, 30), quad(0, 9, *pixels.shape[1::-1])])
    clock = SystemClock()
    return lambda data: read_image(data, limits, engine, clock)


def refusing(threads: int, limits: ImageLimits) -> Reader:
    """Can't be built."""
    raise ConfigurationError("no model")


@dataclass(frozen=True, slots=True)
class PretendedGpu:
    """Builds the reader of a GPU that is there for as long as `device` exists; an empty file stands for it.

    Its reader obeys, and loses the GPU when that is gone.
    """

    device: Path

    def __call__(self, threads: int, limits: ImageLimits) -> Reader:
        if not self.device.exists():
            raise GpuLost("no CUDA device")
        return self._read

    def _read(self, data: bytes) -> OcrResult:
        if not self.device.exists():
            raise GpuLost("CUDA error 999")
        return replace(_obey(data.rpartition(MARKER)[2] if MARKER in data else data), engine="gpu")


@dataclass(frozen=True, slots=True)
class OnceBuilt:
    """Builds an obedient reader for as long as `ticket` exists, and takes it away."""

    ticket: Path

    def __call__(self, threads: int, limits: ImageLimits) -> Reader:
        if not self.ticket.exists():
            raise ConfigurationError("no model any more")
        self.ticket.unlink()
        return _obey


#: Stands in a picture before what `by_marker` shall do.
MARKER = b"ORDER:"

#: What a child that leaks holds on to.
_KEPT: list[bytes] = []


class Unpicklable(Exception):
    def __init__(self, one: str, *, two: str) -> None:
        super().__init__(one)
        self.lock = two


def _obey(data: bytes) -> OcrResult:
    orders = {
        b"crash": lambda: os.kill(os.getpid(), signal.SIGKILL),
        b"segfault": lambda: ctypes.string_at(0),
        b"crash worker": lambda: os.kill(os.getppid(), signal.SIGKILL),
        b"hang": signal.pause,
        b"take two seconds": lambda: time.sleep(2),
        b"take a fifth": lambda: time.sleep(0.2),
        b"bad image": lambda: _raise(BadImage("broken")),
        b"invalid input": lambda: _raise(InvalidInput([FieldProblem("/words/0", "is blank")])),
        b"overload": lambda: _raise(QueueFull("full", retry_after_ms=3_000)),
        b"foreign": lambda: _raise(Unpicklable("odd", two="thing")),
        b"no memory": lambda: _raise(MemoryError()),
        b"eat memory": _eat_memory,
        b"lose the gpu": lambda: _raise(GpuLost("CUDA error 719")),
        b"grow": lambda: _KEPT.append(b"x" * 200_000_000),
    }
    if data.startswith(TELL):
        Path(os.fsdecode(data.removeprefix(TELL))).write_bytes(b"begun")
        signal.pause()
    if data in orders:
        orders[data]()
    return OcrResult((), 1, 1, 1.0, "obedient", str(os.getpid()))


def _eat_memory() -> None:
    while True:
        _KEPT.append(b"x" * 10_000_000)
        time.sleep(0.01)


def _raise(error: Exception) -> None:
    raise error
