"""What happens to tasks, written down by the database itself: triggers that note every change, in its transaction.

It does not ask fairlane: an end that is written twice, a token that goes back or a result that is written again stands
here, whatever the rows say afterwards.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg2
import psycopg2.extensions

_TRIGGERS = """
CREATE TABLE fault_journal (seq bigserial PRIMARY KEY, at_ms bigint, task_id text, what text, token bigint, kind text);
CREATE INDEX ON fault_journal (task_id text_pattern_ops);
CREATE INDEX ON fault_journal (at_ms);
CREATE FUNCTION fault_now() RETURNS bigint LANGUAGE sql AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
CREATE FUNCTION fault_task() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.token < OLD.token THEN
    INSERT INTO fault_journal (at_ms, task_id, what, token) VALUES (fault_now(), NEW.task_id, 'token back', NEW.token);
  END IF;
  IF NEW.state = 'running' AND NEW.token <> OLD.token THEN
    INSERT INTO fault_journal (at_ms, task_id, what, token) VALUES (fault_now(), NEW.task_id, 'started', NEW.token);
  END IF;
  IF OLD.ended_ms IS NOT NULL AND (NEW.ended_ms IS DISTINCT FROM OLD.ended_ms OR NEW.state <> OLD.state) THEN
    INSERT INTO fault_journal (at_ms, task_id, what, token) VALUES (fault_now(), NEW.task_id, 'end changed', NEW.token);
  END IF;
  IF OLD.ended_ms IS NULL AND NEW.ended_ms IS NOT NULL THEN
    INSERT INTO fault_journal (at_ms, task_id, what, token, kind)
      VALUES (fault_now(), NEW.task_id, 'ended', NEW.token, NEW.lane || ' ' || NEW.state);
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION fault_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO fault_journal (at_ms, task_id, what, token)
    VALUES (fault_now(), NEW.task_id, TG_TABLE_NAME, NEW.token);
  RETURN NULL;
END $$;
CREATE TRIGGER fault_task AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION fault_task();
CREATE TRIGGER fault_effect AFTER INSERT OR UPDATE ON ocr_result FOR EACH ROW EXECUTE FUNCTION fault_effect();
CREATE TRIGGER fault_effect AFTER INSERT OR UPDATE ON detection FOR EACH ROW EXECUTE FUNCTION fault_effect();
CREATE TRIGGER fault_effect AFTER INSERT ON webhook_delivery FOR EACH ROW EXECUTE FUNCTION fault_effect();
"""
#: What a task may have of each, at most.
EFFECTS = ("ended", "ocr_result", "detection")


class End(NamedTuple):
    """How a task stands in the ledger."""

    state: str
    code: str
    token: int
    has_ended: bool


class Journal:
    """Reads the ledger and the notes of the triggers, past fairlane and past its proxies.

    Args:
        url: of a migrated PostgreSQL database, which gets the triggers.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._connection: psycopg2.extensions.connection | None = None
        with self._cursor() as cursor:
            cursor.execute(_TRIGGERS)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The answer to a question, from any thread; a connection that a fault has cut is made anew."""
        with self._lock:
            try:
                return self._ask(statement, values)
            except psycopg2.Error:
                self.close()
                return self._ask(statement, values)

    def ends(self, prefix: str) -> dict[str, End]:
        """The tasks whose id begins so, in the ledger."""
        rows = self.rows(
            "SELECT task_id, state, code, token, ended_ms IS NOT NULL FROM task WHERE task_id LIKE %s", prefix + "%"
        )
        return {row[0]: End(*row[1:]) for row in rows}

    def open(self) -> int:
        """How many tasks have not ended, and announcements are under way."""
        ((tasks, announcements),) = self.rows(
            "SELECT (SELECT count(*) FROM task WHERE ended_ms IS NULL),"
            " (SELECT count(*) FROM webhook_delivery WHERE state = 'pending')"
        )
        return int(tasks) + int(announcements)

    def counts(self, prefix: str) -> dict[str, dict[str, int]]:
        """For each kind of note, how often it stands there of each task."""
        rows = self.rows(
            "SELECT what, task_id, count(*) FROM fault_journal WHERE task_id LIKE %s GROUP BY 1, 2", prefix + "%"
        )
        found: dict[str, dict[str, int]] = {}
        for what, task_id, number in rows:
            found.setdefault(what, {})[task_id] = number
        return found

    def hits(self, prefix: str) -> dict[str, int]:
        """By task, how many hits its detection has."""
        return dict(self.rows("SELECT task_id, hit_count FROM detection WHERE task_id LIKE %s", prefix + "%"))

    def announced(self, prefix: str) -> dict[str, list[str]]:
        """By task, how each of its announcements stands."""
        found: dict[str, list[str]] = {}
        for task_id, state in self.rows(
            "SELECT task_id, state FROM webhook_delivery WHERE task_id LIKE %s", prefix + "%"
        ):
            found.setdefault(task_id, []).append(state)
        return found

    def ends_by_kind(self) -> dict[tuple[str, str], int]:
        """By lane and state, how often a task has ended so, ends before a replay among them."""
        rows = self.rows("SELECT kind, count(*) FROM fault_journal WHERE what = 'ended' GROUP BY 1")
        return {(kind.split()[0], kind.split()[1]): int(number) for kind, number in rows}

    def ended_since(self, from_ms: int) -> list[int]:
        """When tasks ended, epoch ms, from a time on."""
        rows = self.rows("SELECT at_ms FROM fault_journal WHERE what = 'ended' AND at_ms >= %s ORDER BY at_ms", from_ms)
        return [int(at_ms) for (at_ms,) in rows]

    def starts(self, prefix: str) -> dict[str, list[int]]:
        """By task, when it was started, epoch ms, each time."""
        found: dict[str, list[int]] = {}
        rows = self.rows(
            "SELECT task_id, at_ms FROM fault_journal WHERE what = 'started' AND task_id LIKE %s ORDER BY seq",
            prefix + "%",
        )
        for task_id, at_ms in rows:
            found.setdefault(task_id, []).append(int(at_ms))
        return found

    def _ask(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    @contextmanager
    def _cursor(self) -> Iterator[psycopg2.extensions.cursor]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg2.connect(self._url, connect_timeout=5)
            self._connection.autocommit = True
        with self._connection.cursor() as cursor:
            yield cursor
