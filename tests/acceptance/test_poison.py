"""Images that crash, hang or swell the engine, or kill the whole worker: each ends for itself, the others are read."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import models.base
from models.ledger import Ledger
from models.migrate import migrate
from pipeline.clock import SystemClock
from pipeline.intake import Intake
from pipeline.queue import Inspector, open_inspector, open_queue
from pipeline.runner.child import Program
from pipeline.runner.supervisor import Supervisor
from pipeline.settings import Settings, child_environment
from pipeline.storage import open_store
from pipeline.submission import ImageSubmission
from tests.acceptance.conftest import settings_for
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded
from tests.support.processes import wait_until

ROOT = Path(__file__).parents[2]
WORKER = (sys.executable, "-m", "dramatiq", "tests.support.poison_worker:broker", "--queues", "ocr", "--processes", "1")
SCHEDULER = (sys.executable, "-m", "pipeline.scheduler")


class Ward:
    """Two supervised workers with an engine that obeys, a scheduler, and the way in."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        database = models.base.connect(settings.effective_database_url)
        migrate(database)
        models.base.bind(database)
        self.ledger = Ledger(database, SystemClock())
        self.inspector: Inspector = open_inspector(settings)
        store = open_store(settings.effective_storage_url)
        self._intake = Intake(open_queue(settings), self.inspector, self.ledger, store, settings)
        self._picture = encoded(corner_marked())
        self._folder = folder
        self._environment = {**child_environment(settings, ()), "PYTHONPATH": str(ROOT)}
        self.died: list[str] = []
        self.supervisor = Supervisor(SystemClock(), lambda event: self.died.append(event.kind))

    def start(self) -> None:
        for name, command in {"scheduler": SCHEDULER, "one": WORKER, "two": WORKER}.items():
            log = self._folder / f"{name}.log"
            self.supervisor.start(Program(name, command, self._environment, log, drain_s=20))

    def submit(self, order: bytes, mac: str) -> str:
        """Submit a picture that makes the engine do something, or nothing but read."""
        image = self._picture + MARKER + order if order else self._picture
        return self._intake.submit_image(ImageSubmission(mac, image)).task_id

    def end_of(self, task_id: str) -> tuple[str, str]:
        """Wait for the end of a task; return its state and code."""
        wait_until(lambda: (row := self.ledger.get(task_id)) and row.has_ended, 120)
        row = self.ledger.get(task_id)
        assert row is not None
        return row.state, row.code


@pytest.fixture
def ward(valkey: object, valkey_url: str, tmp_path: Path) -> Iterator[Ward]:
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        lease_seconds=5,
        lease_renew_seconds=1,
        retry_backoff_base_seconds=1,
        ocr_hard_limit_seconds=2,
        ocr_recycle_rss_bytes=500_000_000,
        ocr_memory_limit_bytes=500_000_000,
    )
    settings.data_dir.mkdir()
    ward = Ward(settings, tmp_path)
    ward.start()
    yield ward
    ward.supervisor.stop(["one", "two", "scheduler"])
    ward.supervisor.close()


@pytest.mark.feature("Q9")
@pytest.mark.feature("O6")
def test_poison_ends_by_itself_with_its_reason_and_its_neighbours_are_read_once(ward: Ward) -> None:
    poison = {
        "worker_crash": ward.submit(b"segfault", "0a0000000001"),
        "engine_timeout": ward.submit(b"hang", "0a0000000002"),
        "engine_memory": ward.submit(b"eat memory", "0a0000000003"),
    }
    neighbours = [ward.submit(b"", f"0b00000000{number:02x}") for number in range(12)]

    assert {code: ward.end_of(task_id) for code, task_id in poison.items()} == {code: ("dead", code) for code in poison}
    for task_id in neighbours:
        assert ward.end_of(task_id) == ("done", "")
        row = ward.ledger.get(task_id)
        assert row is not None
        assert row.attempts == 1
    assert set(ward.died) == {"started"}, "a worker went down with its engine"
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))


@pytest.mark.feature("Q9")
@pytest.mark.feature("S9")
def test_an_image_that_kills_the_whole_worker_is_dead_after_three_and_the_worker_is_back(ward: Ward) -> None:
    poison = ward.submit(b"crash worker", "0a0000000001")

    assert ward.end_of(poison) == ("dead", "worker_crash")

    assert ward.end_of(ward.submit(b"", "0b0000000001")) == ("done", "")
    wait_until(lambda: ward.died.count("ended") == 3)
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))
