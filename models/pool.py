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

from models.kept_sqlite import KeptSqlite

#: Seconds for getting a connection that works: asking the parked ones and making a new one.
CONNECT_S = 2
#: Seconds for one statement on a server that has stopped talking; a little more than its own statement_timeout.
_ANSWER_S = 25
#: Seconds for which what one thread has heard of the server, or not, holds for the others.
_HEARD_S = 1.0
#: A failed connect that took longer than this was a silent server, not a refusal, seconds.
_SLOW_S = 1.0
#: Seconds after a slow failure in which others are refused without asking again.
_REFUSE_S = 2.0
#: Seconds for which a parked connection is believed to work, as long as no other one has broken since; asking it took a
#: round trip for each piece of work (docs/why/performance.md).
_BELIEVED_S = 1.0

_databases: "weakref.WeakSet[peewee.Database]" = weakref.WeakSet()
#: Connections of the parent process: closing them here would end the parent's sessions, so they are only kept.
_inherited: list[Any] = []
_patience = threading.local()


class _Frame(threading.local):
    """The frame of this thread's transaction.

    Args:
        depth: of blocks that are one transaction: the inner ones may be rolled back alone.
        is_begin_due: it has begun for us, and the server is told together with its first statement.
        is_committed: its commit went along with its last statement.
    """

    depth = 0
    is_begin_due = False
    is_committed = False


class PatientPool(PooledPostgresqlDatabase):  # type: ignore[misc]
    """A pool that asks a silent server once, not once for every thread that waits.

    Threads connect one after the other, each for up to `CONNECT_S`: 30 of them would otherwise wait a minute.

    A transaction takes no round trip to begin, and, with `execute_last`, none to be committed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_until_s = 0.0
        self._frame = _Frame()
        self._parked_s: dict[int, float] = {}
        self._broke_s = 0.0
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

    def _can_reuse(self, conn: Any) -> bool:
        is_good = bool(super()._can_reuse(conn))
        if is_good:
            self._parked_s[id(conn)] = time.monotonic()
        else:
            self._broke_s = time.monotonic()
        return is_good

    def _is_closed(self, conn: Any) -> bool:
        parked_s = self._parked_s.pop(id(conn), 0.0)
        is_believed = parked_s > self._broke_s and time.monotonic() - parked_s < _BELIEVED_S
        return bool(conn.closed) if is_believed else bool(super()._is_closed(conn))

    @contextmanager
    def atomic(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        self._frame.depth += 1
        try:
            with super().atomic(*args, **kwargs) as transaction:
                yield transaction
        finally:
            self._frame.depth -= 1

    def begin(self) -> None:
        self._frame.is_begin_due = True

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        if self._frame.is_committed:
            raise peewee.InternalError(f"the transaction is committed, and then came: {sql[:40]}")
        if self._frame.is_begin_due:
            self._frame.is_begin_due = False
            sql = f"BEGIN;{sql}"
        return super().execute_sql(sql, params)

    def execute_last(self, sql: str, params: Any) -> None:
        """Run the last statement of a transaction and commit, in one round trip; nothing may follow in its block."""
        if self._frame.depth == 1:
            self.execute_sql(f"{sql};COMMIT", params)
            self._frame.is_committed = True
        else:
            self.execute_sql(sql, params)

    def commit(self) -> None:
        if not self._is_over():
            super().commit()

    def rollback(self) -> None:
        if not self._is_over():
            super().rollback()

    def _is_over(self) -> bool:
        """Say whether the server need not be told of the transaction's end: it has not heard of it, or done it."""
        is_over = self._frame.is_begin_due or self._frame.is_committed
        self._frame.is_begin_due = self._frame.is_committed = False
        return is_over

    def reset_pool(self) -> None:
        """Forget every connection, and the locks that a thread of the parent may have held at the fork."""
        _inherited.append((self._connections, self._in_use))
        self._connections = []
        self._in_use = {}
        self._parked_s = {}
        self._frame = _Frame()
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
    global _ear
    _ear = _Ear()  # a thread of the parent may have held its lock
    database: Any
    for database in list(_databases):
        _inherited.append(database._state.conn)
        database._state.reset()
        database._lock = threading.Lock()
        if isinstance(database, PatientPool):
            database.reset_pool()
        elif isinstance(database, KeptSqlite):
            _inherited.append(database.reset_in_child())


class Silent(psycopg2.OperationalError):  # type: ignore[misc]
    """The server says nothing, neither yes nor no."""


class _Ear:
    """Finds out for all threads at once whether a server that owes an answer still answers anybody."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_s = -_HEARD_S
        self._is_silent = False

    def insist(self, connection: Any) -> None:
        """Return when the server of this connection takes new ones, or says why not.

        Raises: Silent.
        """
        with self._lock:
            if time.monotonic() - self._asked_s > _HEARD_S:
                self._is_silent = _is_silent(connection.info)
                self._asked_s = time.monotonic()
            if self._is_silent:
                raise Silent("the server does not answer")


def _is_silent(info: Any) -> bool:
    try:
        with patience(CONNECT_S):
            psycopg2.connect(**info.dsn_parameters, password=info.password).close()
    except Silent:
        return True
    except psycopg2.Error:
        return False  # an answer, too
    return False


def _wait_for(connection: Any) -> None:
    """Wait until a statement is through; what psycopg2 calls in place of a read that may block for ever.

    A paused or cut off server says nothing, so that no timeout of its own helps: after `CONNECT_S` it is asked on
    another connection whether it is the statement that takes so long. Raising here closes the connection.
    """
    limit_s = getattr(_patience, "ends_s", None)
    ends_s, ask_s = limit_s or time.monotonic() + _ANSWER_S, limit_s or time.monotonic() + CONNECT_S
    poller = select.poll()
    while (wish := connection.poll()) != psycopg2.extensions.POLL_OK:
        event = select.POLLIN if wish == psycopg2.extensions.POLL_READ else select.POLLOUT
        descriptor = connection.fileno()
        poller.register(descriptor, event)
        if not poller.poll(max(0.0, ask_s - time.monotonic()) * 1000):
            if ask_s >= ends_s:
                raise Silent("the server does not answer")
            _ear.insist(connection)
            ask_s = ends_s
        poller.unregister(descriptor)


_ear = _Ear()
psycopg2.extensions.set_wait_callback(_wait_for)
os.register_at_fork(after_in_child=_reset_all)
