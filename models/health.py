"""What `doctor` asks of a database: whether its layout is whole, which version it is, and what time it has."""

import sqlite3
import tempfile
from functools import cache
from typing import Any

from models.base import Database, connect, connection, sqlite_path
from models.migrate import migrate

#: Names of what SQLite makes by itself for primary keys.
_AUTOMATIC = "sqlite_"


def missing_indexes(database: Database) -> list[str]:
    """The tables and indexes that all migrations make and a migrated database lacks, in order.

    Raises: DatabaseUnavailable.
    """
    there = _layout_of(database)
    missing = [f"table {table}" for table in _whole_layout() if table not in there]
    for table, indexes in _whole_layout().items():
        missing += [f"index {name}" for name in sorted(indexes - there.get(table, indexes))]
    return missing


def server_version(database: Database) -> tuple[str, tuple[int, ...]]:
    """The name of the database's program and its version.

    Raises: DatabaseUnavailable.
    """
    if sqlite_path(database):
        return "SQLite", tuple(int(part) for part in sqlite3.sqlite_version.split("."))
    number = int(_answer(database, "SHOW server_version_num"))
    return "PostgreSQL", (number // 10_000, number % 10_000)


def server_now_ms(database: Database) -> int | None:
    """What time the server has, epoch ms; None for SQLite, which has that of this host.

    Raises: DatabaseUnavailable.
    """
    if sqlite_path(database):
        return None
    return int(_answer(database, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"))


@cache
def _whole_layout() -> dict[str, frozenset[str]]:
    """What the migrations make: they are run once, on an empty file. Names are the same on PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="fairlane-layout-") as folder:
        database = connect(f"sqlite:///{folder}/empty.db")
        migrate(database)
        return _layout_of(database)


def _layout_of(database: Database) -> dict[str, frozenset[str]]:
    typed: Any = database
    with connection(database):
        return {
            table: frozenset(index.name for index in typed.get_indexes(table) if not index.name.startswith(_AUTOMATIC))
            for table in sorted(typed.get_tables())
            if not table.startswith(_AUTOMATIC)
        }


def _answer(database: Database, sql: str) -> Any:
    typed: Any = database
    with connection(database):
        return typed.execute_sql(sql).fetchone()[0]
