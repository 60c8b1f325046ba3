"""PostgreSQL goes away under load and comes back: nobody dies, the service says 503 meanwhile, nothing is lost."""

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.errors import FairlaneError, Overload, Retryable
from pipeline.runner.stack import Stack
from tests.acceptance.conftest import Running, settings_for
from tests.support.own_servers import started_postgres
from tests.support.processes import wait_until
from tests.support.servers import Server

#: From the server's return until texts are accepted and done again, seconds.
RECOVERY_S = 10
#: How PostgreSQL is told to stop: it cuts its clients off, or it leaves everything as it lies.
FAST, IMMEDIATE = signal.SIGINT, signal.SIGQUIT


class Load:
    """A client that sends texts without a pause, as its devices do, and remembers what it was answered."""

    def __init__(self, fairlane: Running) -> None:
        self._fairlane = fairlane
        self.accepted: list[str] = []
        self.refusals: list[Exception] = []
        self.surprises: list[Exception] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _send(self) -> None:
        number = 0
        while not self._is_over.wait(0.02):
            number += 1
            try:
                receipt = self._fairlane.api.submit_text("hello", f"0a00000000{number % 16:02x}")
                self.accepted.append(receipt["task_id"])
            except (Retryable, Overload) as exc:
                self.refusals.append(exc)
            except FairlaneError as exc:
                self.surprises.append(exc)


@pytest.fixture
def server() -> Iterator[Server]:
    """A PostgreSQL that may be stopped: that of the other tests may not."""
    with started_postgres() as server:
        yield server


@pytest.mark.feature("R3")
@pytest.mark.parametrize("how", [FAST, IMMEDIATE], ids=["fast", "immediate"])
def test_a_restart_of_postgresql_under_load_kills_nobody_and_loses_nothing(
    server: Server, how: signal.Signals, tmp_path: Path
) -> None:
    settings = settings_for(tmp_path, database_url=server.url)
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        fairlane = Running(settings, stack)
        before = _processes(fairlane)
        load = Load(fairlane)
        wait_until(lambda: len(load.accepted) > 20)

        server.stop_signal = how
        server.stop()
        wait_until(lambda: load.refusals)
        server.start()
        accepted = len(load.accepted)
        wait_until(lambda: len(load.accepted) > accepted + 5, RECOVERY_S)

        load.end()
        wait_until(lambda: all(_has_ended(fairlane, task_id) for task_id in load.accepted), 60)
        assert _processes(fairlane) == before
        assert load.surprises == []
        assert {fairlane.api.task(task_id)["state"] for task_id in load.accepted} == {"done"}
        wait_until(lambda: all(books.balances and books.leased == 0 for books in fairlane.inspector.audit()))


def _processes(fairlane: Running) -> set[int]:
    """Web, scheduler and workers, masters and children; engines come and go."""
    words = ("gunicorn", "pipeline.scheduler", "pipeline.actors")
    return {process.pid for word in words for process in fairlane.processes(word)}


def _has_ended(fairlane: Running, task_id: str) -> bool:
    row = fairlane.ledger.get(task_id)
    return row is not None and row.has_ended
