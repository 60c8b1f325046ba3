"""Migrations: up, down, up again, by many at once, with data."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playhouse.schema_diff import diff_models

from models import base
from models.base import Database, connection, write
from models.ledger import Ledger
from models.migrate import insist_on_migrations, migrate, pending, revert
from models.sites import LOCAL_SITE, Site
from models.tasks import END_STATES, OPEN_STATES
from pipeline.errors import ConfigurationError
from pipeline.queue import TaskState
from tests.support.clock import FakeClock
from tests.support.databases import close_all
from tests.support.records import TABLES, finished, new_task

FIRST = "0001_first_tables"

MIGRATOR = """
import sys
from models.base import connect
from models.migrate import migrate
print(",".join(migrate(connect(sys.argv[1]))))
"""


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    """A bound database without a table and without an open connection."""
    database = base.connect(empty_database_url)
    base.bind(database)
    yield database
    close_all(database)


@pytest.mark.feature("R3")
def test_migrate_makes_what_the_models_say(empty: Database) -> None:
    assert pending(empty)[0] == FIRST

    assert migrate(empty)[0] == FIRST

    assert pending(empty) == []
    assert migrate(empty) == []
    with connection():
        assert not diff_models(empty, TABLES)
        assert [site.site for site in Site.select()] == [LOCAL_SITE]


def test_a_database_that_lacks_migrations_is_named_with_the_cure(empty: Database) -> None:
    with pytest.raises(ConfigurationError, match=f"{FIRST}.*fairlane migrate"):
        insist_on_migrations(empty)
    migrate(empty)
    insist_on_migrations(empty)


@pytest.mark.feature("R3")
def test_migrations_go_back_and_forth_with_data_in_the_tables(empty: Database, clock: FakeClock) -> None:
    migrate(empty)
    Ledger(empty, clock).accept(new_task())

    assert FIRST in revert(empty, FIRST)

    with connection():
        # SQLite never drops what it counts ids in.
        assert set(empty.get_tables()) <= {"schema_migration", "sqlite_sequence"}
    migrate(empty)
    assert Ledger(empty, clock).get("t1") is None
    assert Ledger(empty, clock).accept(new_task()).is_new


def test_each_step_is_told_before_it_is_done(empty: Database) -> None:
    told: list[str] = []

    done = migrate(empty, told.append)

    assert told == done
    assert done[0] == FIRST
    assert migrate(empty, told.append) == []


def test_migrating_again_keeps_the_data(empty: Database, clock: FakeClock) -> None:
    migrate(empty)
    Ledger(empty, clock).accept(new_task())

    migrate(empty)

    assert Ledger(empty, clock).get("t1")


@pytest.mark.feature("R3")
def test_of_many_processes_that_migrate_at_once_one_does(empty_database_url: str) -> None:
    command = [sys.executable, "-c", MIGRATOR, empty_database_url]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = [process.communicate(timeout=60) for process in processes]

    assert [process.returncode for process in processes] == [0] * 4, outputs
    assert sum(FIRST in output for output, _ in outputs) == 1


def test_a_database_of_a_newer_fairlane_is_refused(empty: Database) -> None:
    migrate(empty)
    with connection():
        empty.execute_sql(
            "INSERT INTO schema_migration (id, name, applied) VALUES (99, '9999_future', '2030-01-01 00:00:00')"
        )

    with pytest.raises(ConfigurationError, match="9999_future"):
        migrate(empty)


def test_revert_of_an_unknown_migration_is_refused(empty: Database) -> None:
    migrate(empty)

    with pytest.raises(ConfigurationError):
        revert(empty, "0000_nothing")

    assert pending(empty) == []


def test_a_session_that_migrated_goes_back_as_it_was(empty: Database) -> None:
    migrate(empty)

    if isinstance(empty, base.peewee.PostgresqlDatabase):
        with connection():
            assert empty.execute_sql("SHOW statement_timeout").fetchone() == ("20s",)
            assert empty.execute_sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)
    else:
        with connection():
            assert empty.execute_sql("PRAGMA journal_mode").fetchone() == ("wal",)
            assert empty.execute_sql("PRAGMA foreign_keys").fetchone() == (1,)
            assert empty.execute_sql("PRAGMA synchronous").fetchone() == (1,)


def test_the_ledger_has_a_word_for_every_state_of_the_queue() -> None:
    assert {*OPEN_STATES, *END_STATES} == {str(state) for state in TaskState} - {"leased"}
    assert set(END_STATES) == {str(state) for state in TaskState if state.is_end}


@pytest.mark.feature("R2")
def test_the_walk_over_open_tasks_and_the_search_by_device_use_their_indexes(database: Database) -> None:
    queries = {
        "task_open": "SELECT task_id FROM task WHERE ended_ms IS NULL AND task_id > 'a' ORDER BY task_id LIMIT 10",
        "task_mac_created_ms": "SELECT task_id FROM task WHERE mac = 'aabbccddeeff' ORDER BY created_ms LIMIT 10",
        "task_detection_id": "SELECT task_id FROM task WHERE detection_id = 'd'",
    }
    explain = "EXPLAIN QUERY PLAN"
    if isinstance(database, base.peewee.PostgresqlDatabase):
        # An empty table is read whole, whatever indexes it has, and one of a few rows is sorted.
        for way in ("seqscan", "bitmapscan", "sort"):
            database.execute_sql(f"SET enable_{way} = off")
        explain = "EXPLAIN"
    for index, query in queries.items():
        plan = " ".join(str(row) for row in database.execute_sql(f"{explain} {query}").fetchall())
        assert index in plan


@pytest.mark.feature("R3")
def test_how_the_engine_saw_an_image_is_kept_by_the_migration_that_gives_it_columns(
    empty: Database, clock: FakeClock
) -> None:
    migrate(empty)
    ledger = Ledger(empty, clock)
    ledger.accept(new_task())
    ledger.start("t1", 1, 1)
    ledger.finish("t1", 1, finished())
    revert(empty, "0007_ocr_reuse")
    packed = '{"read": 40, "view": {"scale": 0.5, "tiles": 3, "direction": "down", "left_out": 0}}'
    with write(empty):
        empty.execute_sql(f"UPDATE ocr_result SET duration_ms = '{packed}'")

    migrate(empty)

    view = ledger.view("t1")
    assert view
    assert view.ocr
    assert view.ocr.duration_ms == {"read": 40}
    assert (view.ocr.scale, view.ocr.tiles, view.ocr.direction) == (0.5, 3, "down")
