"""PostgreSQL: few connections for many threads, whole again after the server was away, never waited on for ever."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from models import base
from models.base import Database, connection, write
from models.ledger import Ledger
from models.prepared import Bound, run_last
from models.tasks import Task
from pipeline.clock import SystemClock
from pipeline.errors import DatabaseUnavailable
from tests.support.clock import FakeClock
from tests.support.databases import close_all, execute
from tests.support.processes import wait_until
from tests.support.records import new_task
from tests.support.servers import Server


@pytest.fixture
def postgres(migrated_postgres: str) -> Iterator[Database]:
    """A bound PostgreSQL database without an open connection."""
    database = base.connect(migrated_postgres)
    base.bind(database)
    yield database
    close_all(database)


def test_many_threads_share_few_connections(postgres: Database) -> None:
    def ask(number: int) -> tuple[int]:
        with connection():
            answer: tuple[int] = postgres.execute_sql(f"SELECT {number}, pg_sleep(0.01)").fetchone()[:1]
            return answer

    with ThreadPoolExecutor(60) as threads:
        assert list(threads.map(ask, range(300))) == [(number,) for number in range(300)]


def test_a_pool_with_no_connection_left_says_so(postgres: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_max_connections", 1)
    monkeypatch.setattr(postgres, "_wait_timeout", 0.05)

    with connection(), ThreadPoolExecutor(1) as thread, pytest.raises(DatabaseUnavailable, match="in use"):
        thread.submit(_ask).result()

    _ask()


def _ask() -> None:
    with connection():
        list(Task.select().limit(1))


@pytest.mark.feature("R3")
def test_a_connection_that_was_cut_fails_once_and_then_works(postgres: Database, migrated_postgres: str) -> None:
    with connection():
        _ask()
        execute(
            migrated_postgres,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()",
        )
        with pytest.raises(DatabaseUnavailable):
            _ask()
        _ask()
    _ask()


@pytest.mark.feature("R3")
def test_a_server_that_comes_back_is_used_again_at_once(postgres: Database, postgres_server: Server) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: _ask(), range(8)))  # parks connections that will not outlive the server
    postgres_server.stop()
    try:
        with pytest.raises(DatabaseUnavailable):
            _ask()
    finally:
        postgres_server.start()

    for _ in range(8):
        _ask()


def test_a_transaction_cut_in_the_middle_leaves_nothing(
    postgres: Database, postgres_server: Server, clock: FakeClock
) -> None:
    ledger = Ledger(postgres, clock)

    def accept_while_it_restarts() -> None:
        with write():
            ledger.accept(new_task("cut"))
            postgres_server.stop()
            postgres_server.start()

    with pytest.raises(DatabaseUnavailable):
        accept_while_it_restarts()

    assert ledger.get("cut") is None


@pytest.mark.feature("R3")
def test_a_silent_server_holds_nobody_for_long(postgres: Database, postgres_server: Server) -> None:
    clock = SystemClock()
    _ask()
    begin_ms = clock.monotonic_ms()
    processes = [postgres_server.process.pid, *_children(postgres_server.process.pid)]
    _signal(processes, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(20) as threads:
            answers = list(threads.map(lambda _: _is_unavailable(), range(20)))
    finally:
        _signal(processes, signal.SIGCONT)

    assert all(answers)
    assert clock.monotonic_ms() - begin_ms < 8_000


@pytest.mark.feature("R3")
def test_a_server_that_falls_silent_over_a_statement_is_given_up(postgres: Database, postgres_server: Server) -> None:
    clock, started = SystemClock(), threading.Event()
    processes: list[int] = []

    def ask_slowly() -> bool:
        with connection():
            postgres.execute_sql("SELECT 1").fetchone()
            started.set()
            wait_until(lambda: processes)
            return _is_unavailable()

    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(ask_slowly)
        started.wait(30)
        stopped = [postgres_server.process.pid, *_children(postgres_server.process.pid)]
        _signal(stopped, signal.SIGSTOP)
        begin_ms = clock.monotonic_ms()
        processes.extend(stopped)
        try:
            assert answer.result(60)
        finally:
            _signal(stopped, signal.SIGCONT)
    assert clock.monotonic_ms() - begin_ms < 8_000


def test_a_statement_that_takes_long_is_waited_for(postgres: Database) -> None:
    with connection():
        assert postgres.execute_sql("SELECT 7 FROM pg_sleep(3)").fetchone() == (7,)


def test_a_transaction_takes_two_round_trips_of_two_statements(postgres: Database) -> None:
    asked: list[str] = []
    postgres.query_hooks.append(lambda event: asked.append(event.sql))
    with write(postgres):
        postgres.execute_sql("SELECT 1")
        run_last(postgres, Bound("SELECT %s", [2]), Bound("SELECT %s", [3]))

    assert asked == ["BEGIN;SELECT 1", "SELECT %s;SELECT %s;COMMIT"]


def test_nothing_may_follow_the_last_statement_of_a_transaction(postgres: Database) -> None:
    def go_on() -> None:
        with write(postgres):
            run_last(postgres, Bound("SELECT 1", []))
            postgres.execute_sql("SELECT 2")

    with pytest.raises(DatabaseUnavailable, match="is committed"):
        go_on()
    with connection():
        assert postgres.execute_sql("SELECT 3").fetchone() == (3,)


def test_the_last_statement_of_an_inner_transaction_leaves_the_outer_one_open(
    postgres: Database, clock: FakeClock
) -> None:
    ledger = Ledger(postgres, clock)

    def accept_and_fail() -> None:
        with write():
            ledger.accept(new_task("inner"))
            raise ValueError

    with pytest.raises(ValueError):
        accept_and_fail()

    assert ledger.get("inner") is None


def _is_unavailable() -> bool:
    try:
        _ask()
    except DatabaseUnavailable:
        return True
    return False


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


def test_nobody_listening_is_unavailable() -> None:
    database = base.connect("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailable), connection(database):
        pass
