"""What a database lacks is found by what the migrations make, on SQLite and PostgreSQL alike."""

import pytest

from models.base import Database, connection
from models.health import missing_indexes, server_now_ms, server_version
from models.migrate import unknown
from pipeline.clock import SystemClock


def test_a_migrated_database_lacks_nothing(database: Database) -> None:
    assert missing_indexes(database) == []
    assert unknown(database) == []


@pytest.mark.parametrize(
    ("statement", "lack"), [("DROP INDEX task_open", "index task_open"), ("DROP TABLE word_epoch", "table word_epoch")]
)
def test_what_was_dropped_is_named(database: Database, statement: str, lack: str) -> None:
    with connection(database), database.atomic() as transaction:
        database.execute_sql(statement)  # type: ignore[no-untyped-call]
        found = missing_indexes(database)
        transaction.rollback()

    assert found == [lack]


def test_the_server_tells_its_version_and_its_time(database: Database) -> None:
    name, version = server_version(database)
    now_ms = server_now_ms(database)

    assert version > ((3, 35) if name == "SQLite" else (13,))
    assert (now_ms is None) is (name == "SQLite")
    assert now_ms is None or abs(now_ms - SystemClock().now_ms()) < 5_000
