"""SQLite connections that are used again while there is work.

PERF: opening the file took 1.1 ms of CPU, for each text twice (docs/why/performance.md).
"""

import sqlite3
import threading
import time
import weakref
from typing import Any

import peewee

#: Seconds after which a connection that nobody has used is opened anew: a file that was put in its place is noticed.
_KEPT_S = 1.0
#: Connections kept, at most: as many as there are threads in a process.
_KEPT_MAX = 20


class KeptSqlite(peewee.SqliteDatabase):
    """A database whose connections go from one piece of work to the next, in whatever thread that is."""

    def __init__(self, path: str, **kwargs: Any) -> None:
        # A connection is used by one thread at a time: whoever has taken it.
        super().__init__(path, check_same_thread=False, **kwargs)
        self._kept: list[tuple[float, sqlite3.Connection]] = []
        self._keeping = threading.Lock()
        weakref.finalize(self, _close_all, self._kept)

    def close_kept(self) -> None:
        """Close what nobody uses now."""
        with self._keeping:
            _close_all(self._kept)

    def reset_in_child(self) -> list[Any]:
        """Begin anew after a fork; return what was kept, which is the parent's and must stay open."""
        self._keeping = threading.Lock()
        kept: list[Any] = list(self._kept)
        self._kept.clear()
        return kept

    def _connect(self) -> Any:
        with self._keeping:
            # The one used last is the last: when it is too old, all are.
            if self._kept and time.monotonic() - self._kept[-1][0] > _KEPT_S:
                _close_all(self._kept)
            if self._kept:
                return self._kept.pop()[1]
        return super()._connect()  # type: ignore[misc]  # peewee does not type what is its own

    def _close(self, conn: Any) -> None:
        with self._keeping:
            is_kept = not conn.in_transaction and len(self._kept) < _KEPT_MAX
            if is_kept:
                self._kept.append((time.monotonic(), conn))
        if not is_kept:
            conn.close()


def _close_all(kept: list[tuple[float, sqlite3.Connection]]) -> None:
    while kept:
        kept.pop()[1].close()
