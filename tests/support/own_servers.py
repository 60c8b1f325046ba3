"""Servers for the length of a block, each in a folder of its own that goes with it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers import Server, start_postgres, start_s3, start_valkey


@contextmanager
def started_valkey(address: str | None = None) -> Iterator[Server]:
    """An empty Valkey that keeps nothing; `address` as in `start_valkey`."""
    # The path of a unix socket may have 107 bytes, fewer than pytest's own folders sometimes have.
    with tempfile.TemporaryDirectory(prefix="fairlane-valkey-") as folder:
        yield from _until_the_end(start_valkey(Path(folder), address))


@contextmanager
def started_postgres() -> Iterator[Server]:
    """An empty PostgreSQL."""
    # pytest's own folders are closed to `nobody`, as whom PostgreSQL runs for root.
    folder = Path(tempfile.mkdtemp(prefix="fairlane-postgres-"))
    try:
        yield from _until_the_end(start_postgres(folder))
    finally:
        shutil.rmtree(folder)


@contextmanager
def started_s3() -> Iterator[Server]:
    """An S3 server with an empty bucket `images`."""
    with tempfile.TemporaryDirectory(prefix="fairlane-s3-") as folder:
        yield from _until_the_end(start_s3(Path(folder)))


def _until_the_end(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
