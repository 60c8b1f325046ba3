"""SQLite connections that are used again for a while.

PERF: opening the file took 0.5 ms of CPU, for each text in a worker and for each submit (docs/why/performance.md).
"""

import sqlite3
import threading
import time
import weakref
from typing import Any

import peewee

#: Seconds after which a connection is opened anew: a file that was put in its place, or damaged, is noticed by then.
_KEPT_S = 1.0
#: Connections kept, at most: as many as there are threads in a process.
_KEPT_MAX = 20


class _Aging(sqlite3.Connection):
    """A connection that knows its age."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._opened_s = time.monotonic()

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self._opened_s < _KEPT_S


class KeptSqlite(peewee.SqliteDatabase):
    """A database whose connections go from one piece of work to the next, in whatever thread that is."""

    def __init__(self, path: str, **kwargs: Any) -> None:
        # A connection is used by one thread at a time: whoever has taken it.
        super().__init__(path, check_same_thread=False, factory=_Aging, **kwargs)
        self._kept: list[_Aging] = []
        self._keeping = threading.Lock()
        weakref.finalize(self, _close_all, self._kept)

    def close_kept(self) -> None:
        """Close what nobody uses now."""
        with self._keeping:
            _close_all(self._kept)

    def reset_in_child(self) -> list[_Aging]:
        """Begin anew after a fork; return what was kept, which is the parent's and must stay open."""
        self._keeping = threading.Lock()
        kept = list(self._kept)
        self._kept.clear()
        return kept

    def _connect(self) -> Any:
        with self._keeping:
            while self._kept:
                connection = self._kept.pop()
                if connection.is_fresh:
                    return connection
                connection.close()
        return super()._connect()  # type: ignore[misc]  # peewee does not type what is its own

    def _close(self, conn: _Aging) -> None:
        with self._keeping:
            is_kept = conn.is_fresh and not conn.in_transaction and len(self._kept) < _KEPT_MAX
            if is_kept:
                self._kept.append(conn)
        if not is_kept:
            conn.close()


def _close_all(kept: list[_Aging]) -> None:
    while kept:
        kept.pop().close()
