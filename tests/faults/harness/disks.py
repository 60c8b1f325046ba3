"""Small disks of the harness's own, which can be filled; they are gone with the process, however it ends."""

import ctypes
import os
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

#: From <linux/sched.h>: mounts of this thread, and of all that it starts from now on, are seen by nobody else.
_CLONE_NEWNS = 0x20000
_FILLER = "filler"
_STEP_BYTES = 1 << 20


@cache
def may_mount() -> bool:
    """Whether this thread and its children may have disks of their own; asking makes it so. Needs root."""
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(_CLONE_NEWNS) != 0:
        return False
    private = subprocess.run(["mount", "--make-rprivate", "/"], check=False, capture_output=True)
    return private.returncode == 0


def make_disk(folder: Path, size_mb: int) -> bool:
    """Let a folder be a disk of that size; False where that is not possible, and it is a folder then."""
    folder.mkdir()
    if not may_mount():
        return False
    options = f"size={size_mb}m,mode=0755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True, timeout=20)
    return True


def unmount(folder: Path) -> None:
    if os.path.ismount(folder):
        subprocess.run(["umount", "-l", folder], check=True, timeout=20)


def fill(folder: Path) -> int:
    """Take all that is free on the disk of a folder; return how many bytes that was."""
    path = folder / _FILLER
    taken = 0
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        for step in (_STEP_BYTES, 4096, 1):
            with suppress(OSError):
                while True:
                    taken += filler.write(b"\0" * step)
    return taken


def drain(folder: Path) -> None:
    """Give it back."""
    (folder / _FILLER).unlink(missing_ok=True)
