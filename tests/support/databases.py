"""Databases of a test's own."""

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2

from models.base import Database
from models.kept_sqlite import KeptSqlite
from models.pool import PatientPool

#: Children before parents.
_TABLES = (
    *("task", "device", "api_key", "detector_report", "dead_letter"),
    *(
        "audit_line",
        "daily_count",
        "daily_wait",
        "end_total",
        "duration_total",
        "word_list",
        "word_content",
        "webhook_delivery",
    ),
)


@contextmanager
def made_database(server_url: str) -> Iterator[str]:
    """Make an empty PostgreSQL database; give its URL; drop it in the end, whoever is still connected."""
    name = f"test_{uuid.uuid4().hex}"
    execute(server_url, f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        yield f"{server_url.rpartition('/')[0]}/{name}"
    finally:
        execute(server_url, f"DROP DATABASE {name} WITH (FORCE)")


def empty_tables(url: str) -> None:
    """Leave a migrated PostgreSQL database as the migrations leave a new one."""
    statements = [f"DELETE FROM {table}" for table in _TABLES]
    execute(url, "; ".join([*statements, "DELETE FROM site WHERE site <> 'local'"]))


def execute(url: str, statement: str) -> None:
    """Run one statement on a PostgreSQL server, past fairlane."""
    with closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        connection.cursor().execute(statement)


def close_all(database: Database) -> None:
    """Close this thread's connection and those that are parked."""
    if isinstance(database, PatientPool):
        database.close_all()
    else:
        database.close()
        if isinstance(database, KeptSqlite):
            database.close_kept()
