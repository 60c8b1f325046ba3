"""What the worker processes of a host hold, noted in a folder: a survivor tells from it what a dead one has left.

A note is locked for as long as its process lives. The kernel takes the lock away with the process, whatever ended it,
and leaves it to one that is only frozen; so nobody has to guess by process ids, which are given anew.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.queue import Claim

_SUFFIX = ".held"
#: Bytes of a note that are read: thousands of claims, where a process holds a few.
_READ_MAX_BYTES = 1 << 20


class HeldNote:
    """The note of this process, one line for each claim; used by one thread at a time.

    Args:
        folder: of all notes of this host; made when it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
        self._descriptor: int | None = None

    def open(self) -> None:
        """Begin the note, empty and locked.

        Raises: OSError.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Locked before it has its name: a survivor never sees a note of the living without its lock.
        unnamed = self._path.with_suffix(".new")
        self._descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(self._path)

    def write(self, held: Iterable[Claim]) -> None:
        """Note what is held now, instead of what was before."""
        if self._descriptor is None:
            return
        data = "".join(f"{claim.task_id} {claim.token}\n" for claim in held).encode()
        # Killed in between, there are old lines behind the new ones: their tokens are no longer good for anything.
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))

    def close(self) -> None:
        """Take the note away: nothing is held any more."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def settle(folder: Path, give_up: Callable[[str, int], None]) -> int:
    """Call `give_up` with task id and token of what dead processes held, and remove their notes; return how many.

    A note stays, for the next time, when `give_up` raises. Raises: OSError, and what `give_up` raises.
    """
    settled = 0
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        with _lines_of_dead(path) as lines:
            for task_id, token in lines:
                give_up(task_id, token)
                settled += 1
    return settled


@contextmanager
def _lines_of_dead(path: Path) -> Iterator[list[tuple[str, int]]]:
    """Give what the note of a dead process says, nothing for one that lives; remove it in the end."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        yield []  # no note: a link, a folder, or another survivor was faster
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield []
            return
        yield [*_claims_in(os.pread(descriptor, _READ_MAX_BYTES, 0))]
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _claims_in(data: bytes) -> Iterator[tuple[str, int]]:
    for line in data.decode("utf-8", "replace").splitlines():
        task_id, _, token = line.partition(" ")
        if token.isascii() and token.isdecimal():
            yield task_id, int(token)
