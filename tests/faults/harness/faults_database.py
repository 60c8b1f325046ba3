"""What may become of the PostgreSQL below the ledger, or of the file of SQLite."""

import signal
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg2
import psycopg2.extensions

from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House

_KIND = "database"
#: Of 100 that the server allows, those that are left to fairlane, to us and to the superuser.
_CONNECTIONS_MAX = 120


@dataclass
class DatabaseRestarted(Fault):
    """The server ends, is away for a while, and starts again.

    Args:
        how: SIGINT cuts its clients off, SIGQUIT leaves everything as it lies.
    """

    how: signal.Signals = signal.SIGINT
    _before: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        self._before = _started_at(house)
        server = house.servers.postgres_server
        server.process.send_signal(self.how)
        server.process.wait(30)

    def heal(self, house: House) -> None:
        server = house.servers.postgres_server
        if server.process.poll() is not None:
            server.start()

    def trace(self, house: House) -> str:
        return "another run of the server" if _started_at(house) != self._before else ""


@dataclass
class BackendsKilled(Fault):
    """Every connection of fairlane is ended, again and again; new ones are taken."""

    _killed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = _KIND, 0.0

    def inject(self, house: House) -> None:
        ((self._killed,),) = house.journal.rows(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    def heal(self, house: House) -> None:
        """Fairlane connects anew."""

    def trace(self, house: House) -> str:
        return f"{self._killed} connections ended" if self._killed else ""


@dataclass
class TooManyConnections(Fault):
    """Somebody else has all connections that the server allows; those of fairlane are cut, and none are left."""

    _taken: list[psycopg2.extensions.connection] = field(init=False, default_factory=list)
    _was_full: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        self._was_full = False
        house.journal.open()  # ours stays open
        house.servers.postgres.cut()
        for _ in range(_CONNECTIONS_MAX):
            try:
                self._taken.append(psycopg2.connect(house.servers.postgres_server.url, connect_timeout=5))
            except psycopg2.OperationalError as exc:
                self._was_full = "too many clients" in str(exc) or "remaining connection slots" in str(exc)
                house.servers.postgres.cut()

    def heal(self, house: House) -> None:
        for connection in self._taken:
            with suppress(psycopg2.Error):
                connection.close()
        self._taken.clear()

    def trace(self, house: House) -> str:
        return "no connection was left" if self._was_full else ""


@dataclass
class SqliteLocked(Fault):
    """Somebody else writes into the file, as a backup or an administrator may, and is slow to commit."""

    _began_ms: int = field(init=False, default=0)
    _ended_meanwhile: int = field(init=False, default=0)
    _lock: sqlite3.Connection | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        self._lock = sqlite3.connect(house.servers.sqlite_file, timeout=30, isolation_level=None)
        self._lock.execute("BEGIN IMMEDIATE")
        self._began_ms = house.clock.now_ms()

    def heal(self, house: House) -> None:
        if self._lock:
            self._ended_meanwhile = len(house.journal.ended_since(self._began_ms))
            self._lock.close()
            self._lock = None

    def trace(self, house: House) -> str:
        return "" if self._ended_meanwhile else f"for {self.hold_s:.0f} s nobody else could write"


def _started_at(house: House) -> str:
    ((when,),) = house.journal.rows("SELECT pg_postmaster_start_time()::text")
    return str(when)
