"""A service over several hosts: servers here, a scheduler and workers elsewhere."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import models.base
from models.ledger import Ledger
from models.migrate import migrate
from pipeline.clock import SystemClock
from pipeline.intake import Intake
from pipeline.queue import WorkerView, open_inspector, open_queue, open_roster
from pipeline.settings import Settings, child_environment
from pipeline.storage import open_store
from pipeline.submission import ImageSubmission
from tests.acceptance.conftest import settings_for
from tests.support.hosts import Host, Network
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded
from tests.support.processes import wait_until
from tests.support.servers import start_postgres, start_valkey
from tests.support.ward import ROOT, SCHEDULER, WORKER


class Fleet:
    """Two worker hosts, `a` and `b`, and one that keeps house."""

    def __init__(self, settings: Settings, network: Network, folder: Path) -> None:
        database = models.base.connect(settings.effective_database_url)
        migrate(database)
        models.base.bind(database)
        self.settings, self.hosts, self._folder = settings, network.hosts, folder
        self.ledger = Ledger(database, SystemClock())
        self.inspector, self.roster = open_inspector(settings), open_roster(settings)
        store = open_store(settings.effective_storage_url)
        self._intake = Intake(open_queue(settings), self.inspector, self.ledger, store, settings)
        self._picture = encoded(corner_marked())
        self._environment = {**child_environment(settings, ()), "PYTHONPATH": str(ROOT)}

    def start(self) -> None:
        self.hosts["house"].start(SCHEDULER, self._environment, self._folder / "house.log")
        for name in ("a", "b"):
            self.start_worker(self.hosts[name])
        wait_until(lambda: set(self.workers()) == {"a", "b"}, 60)

    def start_worker(self, host: Host) -> None:
        host.start(WORKER, self._environment, self._folder / f"{host.name}.log")

    def workers(self) -> dict[str, WorkerView]:
        """The live workers by host."""
        views = [WorkerView.of(entry, SystemClock().now_ms()) for entry in self.roster.workers()]
        return {view.hostname: view for view in views}

    def submit(self, count: int, order: bytes = b"") -> list[str]:
        """Submit pictures of as many devices, which make the engine do something, or nothing but read."""
        image = self._picture + MARKER + order if order else self._picture
        macs = [f"0a00000000{number:02x}" for number in range(count)]
        return [self._intake.submit_image(ImageSubmission(mac, image)).task_id for mac in macs]

    def state_of(self, task_id: str) -> str:
        row = self.ledger.get(task_id)
        assert row is not None
        return row.state

    def attempts_of(self, task_id: str) -> int:
        row = self.ledger.get(task_id)
        assert row is not None
        return row.attempts

    def are_done(self, task_ids: list[str]) -> bool:
        return all(self.state_of(task_id) == "done" for task_id in task_ids)

    def ended_by(self, name: str) -> set[str]:
        """The tasks that a host says it has brought to a good end."""
        lines = (self._folder / f"{name}.log").read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return {entry["task_id"] for entry in entries if entry.get("ending") == "complete"}

    def assert_books_balance(self) -> None:
        wait_until(lambda: all(books.balances and books.leased == 0 for books in self.inspector.audit()))


@pytest.fixture
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet; a test may name settings of its own as the parameter."""
    # pytest's own folders are closed to `nobody`, as whom PostgreSQL runs for root.
    base = Path(tempfile.mkdtemp(prefix="fairlane-hosts-"))
    with Network(["house", "a", "b"]) as network:
        valkey, postgres = start_valkey(tmp_path, network.address), start_postgres(base, network.address)
        settings = settings_for(
            tmp_path / "data",
            redis_url=valkey.url,
            database_url=postgres.url,
            lease_seconds=5,
            lease_renew_seconds=1,
            worker_heartbeat_seconds=1,
            worker_ttl_seconds=4,
            **getattr(request, "param", {}),
        )
        settings.data_dir.mkdir()
        fleet = Fleet(settings, network, tmp_path)
        fleet.start()
        yield fleet
    for server in (valkey, postgres):
        server.stop()
    shutil.rmtree(base)
