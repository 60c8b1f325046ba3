"""Load that is not ours: busy processes outside of our own process tree."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def foreign_load() -> Iterator[list[int]]:
    """Keep every processor busy; gives the process ids."""
    burn = shlex.join([sys.executable, "-c", "while True: pass"])
    # The shell that starts them is gone when it returns: nothing of ours is their parent.
    script = f"for core in $(seq {os.cpu_count()}); do {burn} >/dev/null 2>&1 & echo $!; done"
    started = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    pids = [int(line) for line in started.stdout.split()]
    try:
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, 9)
