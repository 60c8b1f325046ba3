"""A service over several hosts: servers here, a scheduler and workers elsewhere."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.queue import WorkerView
from pipeline.settings import Settings
from tests.acceptance.conftest import settings_for
from tests.support.hosts import Network
from tests.support.parts import OBEDIENT_WORKER, SCHEDULER, Obedience
from tests.support.processes import wait_until
from tests.support.servers import start_postgres, start_valkey


class Fleet(Obedience):
    """Two worker hosts, `a` and `b`, and one that keeps house."""

    def __init__(self, settings: Settings, network: Network, folder: Path) -> None:
        super().__init__(settings, folder)
        self.hosts = network.hosts

    def start(self) -> None:
        self.hosts["house"].start(SCHEDULER, self.environment, self.folder / "house.log")
        for name in ("a", "b"):
            self.hosts[name].start(OBEDIENT_WORKER, self.environment, self.folder / f"{name}.log")
        wait_until(lambda: set(self.workers()) == {"a", "b"}, 60)

    def workers(self) -> dict[str, WorkerView]:
        """The live workers by host."""
        views = [WorkerView.of(entry, SystemClock().now_ms()) for entry in self.roster.workers()]
        return {view.hostname: view for view in views}

    def submit_many(self, count: int, order: bytes) -> list[str]:
        """Submit pictures of as many devices, which make the engine do something."""
        return [self.submit(order, f"0a00000000{number:02x}") for number in range(count)]

    def state_of(self, task_id: str) -> str:
        return self.row_of(task_id).state

    def attempts_of(self, task_id: str) -> int:
        return self.row_of(task_id).attempts

    def are_done(self, task_ids: list[str]) -> bool:
        return all(self.state_of(task_id) == "done" for task_id in task_ids)

    def ended_by(self, name: str) -> set[str]:
        """The tasks that a host says it has brought to a good end."""
        lines = (self.folder / f"{name}.log").read_text().splitlines()
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
