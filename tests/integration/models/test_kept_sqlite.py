"""SQLite: connections are used again for a while, and then opened anew."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from models import base, kept_sqlite
from models.base import Database, connection
from tests.support.databases import close_all


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = base.connect(f"sqlite:///{tmp_path / 'kept.db'}")
    yield database
    close_all(database)


def _connection_now(database: Database) -> object:
    with connection(database):
        return database.connection()


def test_the_next_piece_of_work_gets_the_same_connection_in_whatever_thread(database: Database) -> None:
    first = _connection_now(database)
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(_connection_now(database)))
    thread.start()
    thread.join()

    assert found == [first]


def test_two_threads_at_once_have_a_connection_each(database: Database) -> None:
    found: list[object] = []
    with connection(database):
        thread = threading.Thread(target=lambda: found.append(_connection_now(database)))
        thread.start()
        thread.join()
        assert found != [database.connection()]


def test_a_file_in_its_place_is_noticed_after_a_while(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection(database):
        database.execute_sql("CREATE TABLE kept (number)")
    monkeypatch.setattr(kept_sqlite, "_KEPT_S", -1.0)
    for path in tmp_path.glob("kept.db*"):
        path.unlink()

    with connection(database):
        assert database.get_tables() == []


def test_a_child_does_not_use_a_connection_of_its_parent(database: Database) -> None:
    parents = _connection_now(database)

    child = os.fork()
    if not child:
        os._exit(int(_connection_now(database) is parents))
    assert os.waitpid(child, 0)[1] == 0
    assert _connection_now(database) is parents
