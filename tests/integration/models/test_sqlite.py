"""SQLite: writers wait for each other, and every fault of the file is an unavailable database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from models import base
from models.base import Database, connection, write
from models.kept_sqlite import KeptSqlite
from models.ledger import Ledger
from models.migrate import migrate
from models.tasks import Task
from pipeline.errors import DatabaseUnavailable
from tests.support.clock import FakeClock
from tests.support.records import everything, new_task


@pytest.fixture
def sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A bound SQLite database that does not wait for locks, without an open connection."""
    monkeypatch.setattr(base, "_SQLITE_BUSY_S", 0)
    database = base.connect(f"sqlite:///{tmp_path / 'fairlane.db'}")
    base.bind(database)
    migrate(database)
    return database


def test_a_locked_file_is_unavailable_and_then_works(sqlite: Database, clock: FakeClock) -> None:
    ledger = Ledger(sqlite, clock)
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with write():
            is_held.set()
            may_go.wait(30)

    with ThreadPoolExecutor(1) as thread:
        held = thread.submit(hold)
        assert is_held.wait(30)
        with pytest.raises(DatabaseUnavailable, match="locked"):
            ledger.accept(new_task())
        assert ledger.get("t1") is None, "reading goes on while another writes"
        may_go.set()
        held.result()

    assert ledger.accept(new_task()).is_new


def test_transactions_that_read_first_wait_for_each_other(tmp_path: Path, clock: FakeClock) -> None:
    database = base.connect(f"sqlite:///{tmp_path / 'fairlane.db'}")
    base.bind(database)
    migrate(database)
    Ledger(database, clock).accept(new_task(size_bytes=0))

    def count_up(_: int) -> None:
        with write():
            task = Task.get()
            Task.update(size_bytes=task.size_bytes + 1).returning(Task.task_id).execute()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_up, range(40)))

    with connection():
        assert Task.get().size_bytes == 40


def test_a_full_disk_is_unavailable_and_leaves_nothing(sqlite: Database, clock: FakeClock) -> None:
    ledger = Ledger(sqlite, clock)
    with connection():
        pages = sqlite.execute_sql("PRAGMA page_count").fetchone()[0]
        sqlite.execute_sql(f"PRAGMA max_page_count = {pages}")
        before = everything()
        with pytest.raises(DatabaseUnavailable, match="full"):
            ledger.accept(new_task(payload={"text": "x" * 100_000}))
        assert everything() == before


def test_a_damaged_file_is_unavailable_to_whoever_opens_it(sqlite: KeptSqlite) -> None:
    sqlite.close_kept()
    Path(sqlite.database).write_bytes(b"not a database at all" * 1000)

    with pytest.raises(DatabaseUnavailable), connection():
        list(Task.select())


def test_a_missing_folder_is_unavailable(tmp_path: Path) -> None:
    database = base.connect(f"sqlite:///{tmp_path / 'away' / 'fairlane.db'}")

    with pytest.raises(DatabaseUnavailable), connection(database):
        pass
