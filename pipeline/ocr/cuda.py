"""How many CUDA devices this host has, by the word of the driver.

Asked in a process of its own: a driver may hang or crash, and what it once said it says again for as long as the
process lives. This file is run as that process, so it imports nothing but the standard library.
"""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from typing import Any

#: Seconds the driver may take; 0.6 ms were measured where there is none, the rest is the start of Python.
_LIMIT_S = 20.0


def count_devices(command: tuple[str, ...] = (sys.executable, "-I", __file__), limit_s: float = _LIMIT_S) -> int:
    """Return how many devices can be used; 0 also when the driver hangs, crashes or isn't there."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=True)
        return int(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0


def ask_driver(load: Callable[[str], Any] = ctypes.CDLL) -> int:
    """Ask the driver library, in this process."""
    try:
        driver = load("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    # Both return 0 when all is well; without cuInit there is no count.
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


if __name__ == "__main__":
    sys.stdout.write(str(ask_driver()))
