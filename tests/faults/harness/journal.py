"""What happens to tasks, written down by the database itself: triggers that note every change, in its transaction.

It does not ask fairlane: an end that is written twice, a token that goes back or a result that is written again stands
here, whatever the rows say afterwards.
"""

import threading
from typing import Any, NamedTuple

from tests.faults.harness.books import BROKEN, Book

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
        book: a migrated database, which gets the triggers.
    """

    def __init__(self, book: Book) -> None:
        self._book = book
        self._lock = threading.Lock()
        book.install()

    def close(self) -> None:
        self._book.close()

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The answer to a question, from any thread; a connection that a fault has cut is made anew."""
        with self._lock:
            try:
                return self._book.ask(statement, values)
            except BROKEN:
                self._book.close()
                return self._book.ask(statement, values)

    def ends(self, prefix: str) -> dict[str, End]:
        """The tasks whose id begins so, in the ledger."""
        rows = self.rows(
            "SELECT task_id, state, code, token, ended_ms IS NOT NULL FROM task WHERE task_id LIKE %s", prefix + "%"
        )
        return {row[0]: End(*row[1:4], has_ended=bool(row[4])) for row in rows}

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
