"""Waiting for other processes."""

import threading
from collections.abc import Callable
from contextlib import suppress

import psutil

from pipeline.clock import SystemClock


def wait_until(holds: Callable[[], object], limit_s: float = 30) -> None:
    """Return once `holds()` is true; fail after `limit_s` seconds."""
    pause, clock = threading.Event(), SystemClock()
    end_ms = clock.monotonic_ms() + limit_s * 1000
    while not holds():
        assert clock.monotonic_ms() < end_ms, "it never came true"
        pause.wait(0.02)


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended but was not waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def engine_children() -> list[psutil.Process]:
    """The children of this process that hold an OCR engine."""
    return [child for child in psutil.Process().children() if _is_engine(child)]


def _is_engine(process: psutil.Process) -> bool:
    with suppress(psutil.Error):  # it ends at this moment
        return "spawn_main" in " ".join(process.cmdline())
    return False
