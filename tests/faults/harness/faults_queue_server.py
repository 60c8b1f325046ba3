"""What may become of the Valkey below the queue."""

import shutil
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House, pause

_KIND = "queue server"
#: How long a server takes at most to load its file, microseconds, and what a command in the file takes at least, bytes.
_LOADING_US, _AOF_COMMAND_BYTES = 8_000_000, 60


@dataclass
class Restarted(Fault):
    """The server ends by a signal, is away for a while, and starts again with what it has on disk.

    Args:
        how: SIGTERM writes everything down first, SIGKILL does not.
        cut_bytes: taken from the end of the append-only file meanwhile.
        is_emptied: whether it starts with nothing.
    """

    how: signal.Signals = signal.SIGTERM
    cut_bytes: int = 0
    is_emptied: bool = False
    _before: str = field(init=False, default="")
    _done: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        self._before, self._done = run_id(house), ""
        server = house.servers.valkey_server
        server.process.send_signal(self.how)
        server.process.wait(30)
        folder = house.servers.folder / "valkey" / "appendonlydir"
        if self.is_emptied:
            shutil.rmtree(folder)
        elif self.cut_bytes:
            self._cut(folder)

    def heal(self, house: House) -> None:
        server = house.servers.valkey_server
        if server.process.poll() is not None:
            server.start()

    def trace(self, house: House) -> str:
        if self.cut_bytes and not self._done:
            return ""
        return f"another run of the server; {self._done}" if run_id(house) != self._before else ""

    def _cut(self, folder: Path) -> None:
        newest = max(folder.glob("*.incr.aof"), key=lambda path: path.stat().st_mtime_ns)
        size_bytes = newest.stat().st_size
        taken = min(self.cut_bytes, size_bytes)
        with newest.open("r+b") as file:
            file.truncate(size_bytes - taken)
        self._done = f"{taken} bytes cut" if taken else ""


@dataclass
class Stopped(Fault):
    """SIGSTOP: connections stay, nobody answers."""

    _was_silent: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        self._was_silent = False
        house.servers.valkey_server.process.send_signal(signal.SIGSTOP)

    def heal(self, house: House) -> None:
        with house.servers.valkey_client() as client:
            client.connection_pool.connection_kwargs["socket_timeout"] = 0.5
            try:
                client.ping()
            except redis.RedisError:
                self._was_silent = True
        house.servers.valkey_server.process.send_signal(signal.SIGCONT)

    def trace(self, house: House) -> str:
        return "it did not answer" if self._was_silent else ""


@dataclass
class Flushed(Fault):
    """FLUSHALL."""

    _keys: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        with house.servers.valkey_client() as client:
            self._keys = client.dbsize()
            client.flushall()

    def heal(self, house: House) -> None:
        """The scheduler has to."""

    def trace(self, house: House) -> str:
        return f"{self._keys} keys gone" if self._keys else ""


@dataclass
class Configured(Fault):
    """A setting of the running server that makes it refuse.

    Args:
        setting: its name.
        value: while it lasts; `{used}` is the memory it uses now, `{connected}` the number of its clients.
        usual: before and after.
        refusal: begins the error by which it refuses, as its own statistics name it; empty: connections are refused.
        cuts: whether open connections are closed first, so that everybody has to come back.
    """

    setting: str
    value: str
    usual: str
    refusal: str = ""
    cuts: bool = False
    _refused: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        with house.servers.valkey_client() as client:
            self._refused = -self._refusals(client)
            client.config_set(self.setting, self.value)
        if self.cuts:
            house.servers.valkey.cut()

    def heal(self, house: House) -> None:
        for _ in range(100):  # with one client allowed, we have to be that one
            with suppress(redis.RedisError), house.servers.valkey_client() as client:
                client.config_set(self.setting, self.usual)
                self._refused += self._refusals(client)
                return
            pause(0.1)
            house.servers.valkey.cut()

    def trace(self, house: House) -> str:
        return f"{self._refused} refused" if self._refused > 0 else ""

    def _refusals(self, client: redis.Redis) -> int:
        if not self.refusal:
            return int(client.info("stats")["rejected_connections"])
        return errors_of(client, self.refusal)


@dataclass
class ReadOnly(Fault):
    """It became the replica of a master that is not there: it reads and refuses to write."""

    _refused: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        with house.servers.valkey_client() as client:
            self._refused = -errors_of(client, "READONLY")
            # Port 1: nobody is there, so its data stay.
            client.execute_command("REPLICAOF", "127.0.0.1", "1")

    def heal(self, house: House) -> None:
        with house.servers.valkey_client() as client:
            client.execute_command("REPLICAOF", "NO", "ONE")
            self._refused += errors_of(client, "READONLY")

    def trace(self, house: House) -> str:
        return f"{self._refused} refused" if self._refused > 0 else ""


@dataclass
class Loading(Fault):
    """It starts again and needs a while to load its file, LOADING to everybody meanwhile.

    Args:
        key_delay_us: that each command of the file takes.
    """

    key_delay_us: int = 2_000
    _was_loading: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = _KIND, 0.0

    def inject(self, house: House) -> None:
        self._was_loading = False
        server = house.servers.valkey_server
        with house.servers.valkey_client() as client:
            # Not what it has processed: that begins anew with each of its runs, and the file goes on.
            commands = 1 + int(client.info("persistence")["aof_current_size"]) // _AOF_COMMAND_BYTES
        delay = min(self.key_delay_us, _LOADING_US // commands)
        server.process.kill()
        server.process.wait(30)
        usual, is_answering = server.command, server.is_answering

        def has_loaded(url: str) -> bool:
            # Without a second try: the client would not tell that it was told to wait.
            with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0)) as client:
                try:
                    return bool(client.ping())
                except redis.ConnectionError as exc:
                    # Told already when the client introduces itself, and then wrapped in another error.
                    self._was_loading |= "loading" in str(exc).lower()
            return False

        server.command, server.is_answering = [*usual, "--key-load-delay", str(delay)], has_loaded
        try:
            server.start()
        finally:
            server.command, server.is_answering = usual, is_answering

    def heal(self, house: House) -> None:
        server = house.servers.valkey_server
        if server.process.poll() is not None:
            server.start()

    def trace(self, house: House) -> str:
        return "it said LOADING" if self._was_loading else ""


def run_id(house: House) -> str:
    """Tells one run of the server from the next."""
    with house.servers.valkey_client() as client:
        return str(client.info("server")["run_id"])


def errors_of(client: redis.Redis, begin: str) -> int:
    """How often the server has answered with an error that begins so."""
    found = client.info("errorstats").get(f"errorstat_{begin}", {"count": 0})
    return int(found["count"])
