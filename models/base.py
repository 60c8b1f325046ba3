"""The database: how it is opened, how a piece of work gets its connection, and how a transaction is written.

SQLite (embedded) and PostgreSQL behave alike behind `connection()` and `write()`: a failing server or file raises
`DatabaseUnavailable`, and the next piece of work gets a connection that works as soon as one can be had.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import peewee
import psycopg2  # type: ignore[import-untyped]
import psycopg2.extensions  # type: ignore[import-untyped]

from models.kept_sqlite import KeptSqlite
from models.pool import CONNECT_S, PatientPool, reset_in_child
from pipeline.errors import ConfigurationError, DatabaseUnavailable

Database = peewee.Database

#: Seconds a SQLite connection waits for another's write to end. Its lock is not fair: with 4 writers the worst wait
#: was 4.7 s (docs/why/dependencies.md).
_SQLITE_BUSY_S = 30

#: PostgreSQL connections of one process, and the seconds that a piece of work waits for one of them.
_POOL_SIZE = 20
_POOL_WAIT_S = 5

#: libpq parameters, unless the URL says otherwise: a cut line is noticed within 10 s, a runaway statement ends
#: before we would give its connection up.
_POSTGRES_PARAMETERS = {
    "application_name": "fairlane",
    "connect_timeout": CONNECT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "options": "-c statement_timeout=20000",
}

#: What drivers raise when the server, the file or the line is at fault. The others (IntegrityError, DataError,
#: ProgrammingError) are mistakes of ours and stay what they are.
_UNAVAILABLE = (
    peewee.OperationalError,
    peewee.InterfaceError,
    peewee.InternalError,
    sqlite3.OperationalError,
    sqlite3.InternalError,
    psycopg2.OperationalError,
    psycopg2.InterfaceError,
    psycopg2.InternalError,
)
#: Raised as such, not as a subclass, by a damaged file and by a line that broke in the middle of an answer.
_BROKEN = (peewee.DatabaseError, sqlite3.DatabaseError, psycopg2.DatabaseError)

_bound = peewee.DatabaseProxy()


class BaseModel(peewee.Model):
    """A table of the database that `bind` named."""

    class Meta:
        database = _bound
        legacy_table_names = False


def connect(url: str) -> Database:
    """Return the database at `url`; nothing is opened yet, and it may be made before a fork.

    Args:
        url: `sqlite:///<path>` (an absolute path has a fourth slash) or `postgresql://user:password@host/name`.
    Raises: ConfigurationError.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/") and rest[1:] not in ("", ":memory:"):
        return _sqlite(rest[1:])
    if scheme in ("postgresql", "postgres"):
        return _postgresql(url)
    raise ConfigurationError("FAIRLANE_DATABASE_URL: use sqlite:///<path> or postgresql://user:password@host/name")


def bind(database: Database) -> None:
    """Make `database` the one that every model, `connection()` and `write()` of this process uses."""
    _bound.initialize(database)


@contextmanager
def connection(database: Database | None = None) -> Iterator[None]:
    """Hold one connection of this thread for the block; inside another such block it is the same one, unless that
    has broken in the meantime.

    Args:
        database: another than the bound one.
    Raises: DatabaseUnavailable, also for whatever the driver raises inside the block.
    """
    chosen = database or bound()
    with reaching():
        if _is_broken(chosen):
            chosen.close()
        is_ours = chosen.is_closed()
        if is_ours:
            chosen.connect()
        try:
            yield
        finally:
            if is_ours:
                chosen.close()


@contextmanager
def write(database: Database | None = None) -> Iterator[None]:
    """Run the block as one transaction: all of it is kept, or, when anything is raised, nothing.

    On SQLite it holds the write lock from its first line: a transaction that reads first and writes later is refused
    at once when another has written in between (1281 of 1600 failed; docs/why/dependencies.md).
    Raises: DatabaseUnavailable, also for whatever the driver raises inside the block.
    """
    chosen = database or bound()
    lock_type = ("IMMEDIATE",) if isinstance(chosen, peewee.SqliteDatabase) else ()
    with connection(chosen), chosen.atomic(*lock_type):
        yield


@contextmanager
def reaching() -> Iterator[None]:
    """Turn what a driver raises inside the block when the database is at fault into `DatabaseUnavailable`."""
    try:
        yield
    except _UNAVAILABLE as exc:
        raise DatabaseUnavailable(_in_words(exc)) from exc
    except _BROKEN as exc:
        if type(exc) not in _BROKEN:
            raise
        raise DatabaseUnavailable(_in_words(exc)) from exc


def bound() -> Database:
    """The database that `bind` named."""
    database: Database | None = _bound.obj
    if database is None:
        raise ConfigurationError("no database is bound: call models.base.bind first")
    return database


def _sqlite(path: str) -> Database:
    # WAL is a property of the file and set by migrate(): setting it here would need a lock at every connect.
    database = KeptSqlite(
        path,
        pragmas={"foreign_keys": 1, "synchronous": 1},
        timeout=_SQLITE_BUSY_S,
        lock_type="IMMEDIATE",
    )
    reset_in_child(database)
    return database


def _postgresql(url: str) -> Database:
    try:
        given: dict[str, Any] = psycopg2.extensions.parse_dsn(url)
    except psycopg2.ProgrammingError:
        # Without the driver's message, which repeats the URL and with it the password.
        raise ConfigurationError("FAIRLANE_DATABASE_URL: not a valid postgresql:// URL") from None
    name = given.pop("dbname", None)
    if not name:
        raise ConfigurationError("FAIRLANE_DATABASE_URL: names no database; end it with /<name>")
    database = PatientPool(name, max_connections=_POOL_SIZE, timeout=_POOL_WAIT_S, **{**_POSTGRES_PARAMETERS, **given})
    reset_in_child(database)
    return database


def sqlite_path(database: Database) -> Path | None:
    """The file of a SQLite database; None for PostgreSQL."""
    return Path(database.database) if isinstance(database, peewee.SqliteDatabase) else None


def _is_broken(database: Database) -> bool:
    is_idle = not database.is_closed() and not database.in_transaction()
    return is_idle and isinstance(database, PatientPool) and bool(database.connection().closed)


def _in_words(exc: Exception) -> str:
    return " ".join(str(exc).split()) or type(exc).__name__
