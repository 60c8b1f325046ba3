"""Valkey with an append-only file, PostgreSQL, an S3 server and a receiver, each behind a proxy or heard directly.

And a disk for a file of SQLite, which may stand for PostgreSQL.
"""

import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis

from tests.faults.harness.disks import make_disk, unmount
from tests.faults.harness.proxy import Proxy
from tests.faults.harness.receiver import CountingReceiver
from tests.support.processes import wait_until
from tests.support.servers import Server, answers_ping, free_port, start_postgres, start_s3, valkey_binary

#: Megabytes of the disks: PostgreSQL needs 60 when it is empty, and 16 for each file of its log.
_DISKS_MB = {"valkey": 96, "postgres": 640, "sqlite": 256, "store": 96, "log": 64}
#: Of Valkey's file, before a round; ten thousand tasks in one round add forty megabytes.
_AOF_MAX_BYTES = 16 << 20


@dataclass
class Servers:
    """All that fairlane needs, each on a disk of its own where that is possible.

    Args:
        has_disks: whether the disks can be filled without harm to others.
        valkey, postgres, store: the proxies, by which fairlane reaches the servers.
    """

    folder: Path
    has_disks: bool
    valkey_server: Server
    postgres_server: Server
    store_server: Server
    valkey: Proxy
    postgres: Proxy
    store: Proxy
    receiver: CountingReceiver

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self.valkey.port}/0"

    @property
    def database_url(self) -> str:
        return f"postgresql://fairlane@127.0.0.1:{self.postgres.port}/postgres"

    @property
    def sqlite_file(self) -> Path:
        return self.folder / "sqlite" / "fairlane.db"

    @property
    def sqlite_url(self) -> str:
        return f"sqlite:///{self.sqlite_file}"

    @property
    def storage_url(self) -> str:
        return f"s3://images?endpoint=http://127.0.0.1:{self.store.port}"

    @property
    def bucket(self) -> Path:
        return self.folder / "store" / "buckets" / "images"

    def valkey_client(self) -> redis.Redis:
        """A client past the proxy."""
        return redis.Redis.from_url(self.valkey_server.url, socket_timeout=10)

    def tidy(self) -> None:
        """Let Valkey write its file anew when its disk might not hold another round.

        It does not do that by itself, so that it happens in no fault; a full disk is a fault of its own.
        """
        with self.valkey_client() as client:
            if int(client.info("persistence")["aof_current_size"]) > _AOF_MAX_BYTES:
                client.bgrewriteaof()
                wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])

    def close(self) -> None:
        """Stop everything, frozen or not, and leave nothing on disk."""
        for proxy in (self.valkey, self.postgres, self.store):
            proxy.close()
        self.receiver.close()
        for server in (self.store_server, self.postgres_server, self.valkey_server):
            if server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.stop()
        for name in _DISKS_MB:
            unmount(self.folder / name)
        shutil.rmtree(self.folder)


def start_servers(room: int = 1) -> Servers:
    """Start all of them.

    Args:
        room: how many times the usual size the disks have.
    """
    # pytest's own folders are closed to `nobody`, as whom PostgreSQL runs for root.
    folder = Path(tempfile.mkdtemp(prefix="fairlane-faults-"))
    folder.chmod(0o755)
    are_disks = [make_disk(folder / name, room * size_mb) for name, size_mb in _DISKS_MB.items()]
    # PostgreSQL wants its folder empty.
    postgres_folder = folder / "postgres" / "server"
    postgres_folder.mkdir()
    valkey = start_lasting_valkey(folder / "valkey")
    postgres = start_postgres(postgres_folder)
    store = start_s3(folder / "store")
    ports = (urlsplit(server.url).port or 0 for server in (valkey, postgres, store))
    proxies = [Proxy(port) for port in ports]
    return Servers(folder, all(are_disks), valkey, postgres, store, *proxies, CountingReceiver())


def start_lasting_valkey(folder: Path) -> Server:
    """Start a Valkey that keeps what it is told, as the documents advise, on a free port."""
    port = free_port()
    server = Server(
        url=f"redis://127.0.0.1:{port}",
        command=[
            *(valkey_binary(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"),
            *("--enable-debug-command", "local"),
        ],
        is_answering=answers_ping,
        stop_signal=signal.SIGTERM,
        log=folder / "valkey.log",
    )
    server.start()
    return server
