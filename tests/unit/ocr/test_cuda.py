"""The CUDA probe: what the driver's library says, and one that hangs, crashes or isn't there."""

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.ocr.cuda import ask_driver, count_devices


def driver(*, devices: int, init: int = 0, count: int = 0) -> Any:
    """Stands for libcuda: returns these codes, 0 being success."""

    def get_count(place: Any) -> int:
        ctypes.cast(place, ctypes.POINTER(ctypes.c_int)).contents.value = devices
        return count

    return SimpleNamespace(cuInit=lambda flags: init, cuDeviceGetCount=get_count)


def no_driver(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")


@pytest.mark.feature("O1")
def test_the_driver_counts_its_devices() -> None:
    assert ask_driver(lambda name: driver(devices=2)) == 2


def test_a_driver_that_does_not_begin_has_no_devices() -> None:
    assert ask_driver(lambda name: driver(devices=2, init=100)) == 0
    assert ask_driver(lambda name: driver(devices=2, count=3)) == 0


def test_no_driver_is_no_device() -> None:
    assert ask_driver(no_driver) == 0


@pytest.mark.parametrize(
    "program",
    ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "import signal; signal.pause()", "print('many')"],
)
def test_a_driver_that_crashes_hangs_or_stammers_is_no_device(program: str) -> None:
    assert count_devices((sys.executable, "-c", program), limit_s=1) == 0


def test_this_host_is_asked_in_a_process_of_its_own() -> None:
    assert count_devices() == ask_driver()
