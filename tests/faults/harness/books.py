"""The two databases below the ledger, as somebody past fairlane reads them, with triggers that note every change."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Protocol

import psycopg2
import psycopg2.extensions

#: What questions may raise when a fault is on: the connection is to be made anew.
BROKEN = (psycopg2.Error, sqlite3.Error)
_LIMIT_S = 5
#: What is noted of a task when its row changes: when that is so, and of which kind it is.
_NOTED = {
    "token back": ("NEW.token < OLD.token", "NULL"),
    "started": ("NEW.state = 'running' AND NEW.token <> OLD.token", "NULL"),
    "end changed": (
        "OLD.ended_ms IS NOT NULL AND (NEW.ended_ms IS DISTINCT FROM OLD.ended_ms OR NEW.state <> OLD.state)",
        "NULL",
    ),
    "ended": ("OLD.ended_ms IS NULL AND NEW.ended_ms IS NOT NULL", "NEW.lane || ' ' || NEW.state"),
}
_EFFECTS = {
    "ocr_result": ("INSERT", "UPDATE"),
    "detection": ("INSERT", "UPDATE"),
    "webhook_delivery": ("INSERT",),
}


class Book(Protocol):
    """A database, asked by one thread at a time."""

    def install(self) -> None:
        """Make the table of notes and the triggers that fill it; the database has been migrated."""

    def ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """The answer to a question, whose values stand for `%s`; connects when that is needed."""

    def close(self) -> None:
        """Leave it; the next question connects anew."""


class PostgresBook:
    """A PostgreSQL, past the proxy that fairlane takes."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg2.extensions.connection | None = None

    def install(self) -> None:
        for statement in _on_postgres():
            with self._connected().cursor() as cursor:
                cursor.execute(statement)

    def ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._connected().cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg2.extensions.connection:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg2.connect(self._url, connect_timeout=_LIMIT_S)
            self._connection.autocommit = True
        return self._connection


class SqliteBook:
    """A file of SQLite, opened for each question, so that none of ours keeps it from being checkpointed."""

    def __init__(self, path: str) -> None:
        self._path = path

    def install(self) -> None:
        with closing(sqlite3.connect(self._path, timeout=_LIMIT_S)) as connection:
            connection.executescript(";\n".join(_on_sqlite()))

    def ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._path, timeout=_LIMIT_S)) as connection:
            return connection.execute(statement.replace("%s", "?").replace("%%", "%"), tuple(values)).fetchall()

    def close(self) -> None:
        """There is nothing to leave."""


def book_of(url: str) -> Book:
    """The book of a database of fairlane's: `postgresql://…`, or `sqlite:///<path>`."""
    scheme, _, rest = url.partition("://")
    return SqliteBook(rest[1:]) if scheme == "sqlite" else PostgresBook(url)


def _on_postgres() -> list[str]:
    notes = "\n".join(
        f"IF {holds} THEN INSERT INTO fault_journal (at_ms, task_id, what, token, kind)"
        f" VALUES (fault_now(), NEW.task_id, '{what}', NEW.token, {kind}); END IF;"
        for what, (holds, kind) in _NOTED.items()
    )
    return [
        (
            "CREATE TABLE fault_journal"
            " (seq bigserial PRIMARY KEY, at_ms bigint, task_id text, what text, token bigint, kind text)"
        ),
        "CREATE INDEX ON fault_journal (task_id text_pattern_ops)",
        "CREATE INDEX ON fault_journal (at_ms)",
        (
            "CREATE FUNCTION fault_now() RETURNS bigint LANGUAGE sql AS"
            " $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$"
        ),
        f"CREATE FUNCTION fault_task() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {notes} RETURN NULL; END $$",
        (
            "CREATE FUNCTION fault_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " INSERT INTO fault_journal (at_ms, task_id, what, token)"
            " VALUES (fault_now(), NEW.task_id, TG_TABLE_NAME, NEW.token); RETURN NULL; END $$"
        ),
        "CREATE TRIGGER fault_task AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION fault_task()",
        *(
            f"CREATE TRIGGER fault_effect AFTER {' OR '.join(changes)} ON {effect}"
            " FOR EACH ROW EXECUTE FUNCTION fault_effect()"
            for effect, changes in _EFFECTS.items()
        ),
    ]


def _on_sqlite() -> list[str]:
    now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    def trigger(name: str, on: str, what: str, kind: str) -> str:
        return (
            f"CREATE TRIGGER {name} {on} BEGIN INSERT INTO fault_journal (at_ms, task_id, what, token, kind)"
            f" VALUES ({now}, NEW.task_id, '{what}', NEW.token, {kind}); END"
        )

    return [
        (
            "CREATE TABLE fault_journal"
            " (seq INTEGER PRIMARY KEY, at_ms INTEGER, task_id TEXT, what TEXT, token INTEGER, kind TEXT)"
        ),
        "CREATE INDEX fault_journal_task ON fault_journal (task_id)",
        "CREATE INDEX fault_journal_at ON fault_journal (at_ms)",
        *(
            trigger(f"fault_task_{number}", f"AFTER UPDATE ON task WHEN {holds}", what, kind)
            for number, (what, (holds, kind)) in enumerate(_NOTED.items())
        ),
        *(
            trigger(f"fault_{effect}_{change}", f"AFTER {change} ON {effect}", effect, "NULL")
            for effect, changes in _EFFECTS.items()
            for change in changes
        ),
    ]
