"""PostgreSQL connections that are shared by the threads of a process, never by two processes, and never waited on for
ever."""

import os
import select
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import peewee
import psycopg2  # type: ignore[import-untyped]
import psycopg2.extensions  # type: ignore[import-untyped]
from playhouse.pool import MaxConnectionsExceeded, PooledPostgresqlDatabase

#: Seconds for getting a connection that works: asking the parked ones and making a new one.
CONNECT_S = 2
#: Seconds for one statement on a server that has stopped talking; a little more than its own statement_timeout.
_ANSWER_S = 25
#: A failed connect that took longer than this was a silent server, not a refusal, seconds.
_SLOW_S = 1.0
#: Seconds after a slow failure in which others are refused without asking again.
_REFUSE_S = 2.0

_databases: "weakref.WeakSet[peewee.Database]" = weakref.WeakSet()
#: Connections of the parent process: closing them here would end the parent's sessions, so they are only kept.
_inherited: list[Any] = []
_patience = threading.local()


class PatientPool(PooledPostgresqlDatabase):  # type: ignore[misc]
    """A pool that asks a silent server once, not once for every thread that waits.

    Threads connect one after the other, each for up to `CONNECT_S`: 30 of them would otherwise wait a minute.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_until_s = 0.0
        self._connections: list[Any]
        self._in_use: dict[int, Any]
        super().__init__(*args, **kwargs)

    def connect(self, reuse_if_open: bool = False) -> bool:
        try:
            return bool(super().connect(reuse_if_open))
        except MaxConnectionsExceeded as exc:
            raise peewee.OperationalError(f"all {self._max_connections} connections are in use") from exc

    def _connect(self) -> Any:
        begin_s = time.monotonic()
        if begin_s < self._refuse_until_s:
            raise peewee.OperationalError("the server did not answer just now")
        try:
            with patience(CONNECT_S):
                return super()._connect()
        except psycopg2.Error:
            if time.monotonic() - begin_s > _SLOW_S:
                self._refuse_until_s = time.monotonic() + _REFUSE_S
            raise

    def reset_pool(self) -> None:
        """Forget every connection, and the locks that a thread of the parent may have held at the fork."""
        _inherited.append((self._connections, self._in_use))
        self._connections = []
        self._in_use = {}
        self._pool_lock = threading.RLock()
        self._pool_available = threading.Condition(self._pool_lock)


@contextmanager
def patience(limit_s: float) -> Iterator[None]:
    """Give everything that this thread asks of PostgreSQL inside the block `limit_s` seconds altogether."""
    outer = getattr(_patience, "ends_s", None)
    _patience.ends_s = time.monotonic() + limit_s
    try:
        yield
    finally:
        _patience.ends_s = outer


def reset_in_child(database: peewee.Database) -> None:
    """Make `database` safe across `os.fork()`: a child begins without connections and opens its own.

    A connection that is open or parked at the fork gave the child 281 of 300 wrong answers, without an error
    (docs/why/dependencies.md).
    """
    _databases.add(database)


def _reset_all() -> None:
    database: Any
    for database in list(_databases):
        _inherited.append(database._state.conn)
        database._state.reset()
        database._lock = threading.Lock()
        if isinstance(database, PatientPool):
            database.reset_pool()


def _wait_for(connection: Any) -> None:
    """Wait until a statement is through; what psycopg2 calls in place of a read that may block for ever.

    A paused or cut off server says nothing, so that no timeout of its own helps. Raising here closes the connection.
    """
    ends_s = getattr(_patience, "ends_s", None) or time.monotonic() + _ANSWER_S
    poller = select.poll()
    while (wish := connection.poll()) != psycopg2.extensions.POLL_OK:
        event = select.POLLIN if wish == psycopg2.extensions.POLL_READ else select.POLLOUT
        descriptor = connection.fileno()
        poller.register(descriptor, event)
        if not poller.poll(max(0.0, ends_s - time.monotonic()) * 1000):
            raise psycopg2.OperationalError("the server does not answer")
        poller.unregister(descriptor)


psycopg2.extensions.set_wait_callback(_wait_for)
os.register_at_fork(after_in_child=_reset_all)
