"""Connections and transactions alike on both databases: whole or not at all, safe across threads and forks."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from models import base
from models.base import Database, connection, write
from models.ledger import Ledger
from pipeline.errors import ConfigurationError, LeaseLost, TaskEnded
from tests.support.clock import FakeClock
from tests.support.databases import close_all
from tests.support.records import everything, finished, new_task

#: Forks while one connection is open and another parked, and lets four processes ask at the same time.
FORKER = """
import os, sys, threading
from models import base

database = base.connect(sys.argv[1])
base.bind(database)


def wrong_answers(first):
    wrong = 0
    for number in range(first, first + 300):
        with base.connection():
            wrong += database.execute_sql(f"SELECT {number}").fetchone() != (number,)
    return wrong


def park():
    with base.connection():
        database.execute_sql("SELECT 1")


with base.connection():
    thread = threading.Thread(target=park)
    thread.start()
    thread.join()
    children = []
    for number in range(3):
        pid = os.fork()
        if pid == 0:
            os._exit(min(wrong_answers(1000 * number), 100))
        children.append(pid)
    assert wrong_answers(9000) == 0
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0, 0, 0]
    assert wrong_answers(9000) == 0
"""


@pytest.mark.parametrize(
    "url",
    [
        *("", "fairlane.db", "mysql://host/name", "sqlite://fairlane.db", "sqlite:///", "sqlite:///:memory:"),
        *("postgresql://host", "postgresql://[host/name"),
    ],
)
def test_connect_refuses_what_is_no_database(url: str) -> None:
    with pytest.raises(ConfigurationError):
        base.connect(url)


def test_connect_never_repeats_a_password() -> None:
    with pytest.raises(ConfigurationError) as caught:
        base.connect("postgresql://user:hunter2@[host/name")

    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_failed_transaction_leaves_nothing(ledger: Ledger) -> None:
    before = everything()

    def accept_and_fail() -> None:
        with write():
            ledger.accept(new_task())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        accept_and_fail()

    assert everything() == before


def test_connections_nest_and_are_given_back(database_url: str) -> None:
    database = base.connect(database_url)
    base.bind(database)

    with connection(), connection():
        assert not database.is_closed()

    assert database.is_closed()
    close_all(database)


@pytest.mark.feature("R3")
def test_a_fork_gives_no_process_the_answers_of_another(database_url: str) -> None:
    done = subprocess.run([sys.executable, "-c", FORKER, database_url], capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.feature("R2")
def test_of_many_that_accept_one_id_one_is_first(database: Database, clock: FakeClock) -> None:
    def accept(_: int) -> bool:
        return Ledger(database, clock).accept(new_task()).is_new

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(accept, range(16))) == [False] * 15 + [True]


@pytest.mark.feature("R2")
def test_of_many_that_finish_a_task_one_does(database: Database, ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)

    def finish(number: int) -> bool:
        try:
            ledger.finish("t1", 7, finished(run_ms=number))
        except (TaskEnded, LeaseLost):
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(finish, range(16))) == 1
