"""A system that runs: its database, its processes, what it has stored and what that cost."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import redis

import models.base
from benchmarks.peers.systems import Command, Shape, System
from benchmarks.peers.work import PeerResult
from benchmarks.web_servers import Candidate, Served, served
from models.migrate import migrate
from pipeline.runner.procfile import program_folders
from pipeline.samples import words_file
from pipeline.settings import Settings, child_environment, load_settings
from tests.support.databases import close_all, made_database
from tests.support.parts import ROOT
from tests.support.servers import Server, die_with_parent

#: When to submit, in seconds after the beginning; MAC, text, and how long its work is to take besides, milliseconds.
Order = tuple[float, str, str, int]

#: Seconds between two looks at what is stored.
LOOK_S = 0.05
#: Seconds that a process may take to begin its work, and to end.
_START_S, _END_S = 60, 15


@dataclass(frozen=True, slots=True)
class Place:
    """Where all systems run, one after the other.

    Args:
        postgres: None: SQLite.
    """

    valkey: Server
    postgres: Server | None

    @property
    def database(self) -> str:
        return "PostgreSQL" if self.postgres else "SQLite"

    def cpu_s(self) -> float:
        """CPU seconds of the servers so far."""
        servers = [self.valkey, *([self.postgres] if self.postgres else [])]
        return sum(tree_cpu_s(server.process.pid) for server in servers)


@dataclass(frozen=True, slots=True)
class Turn:
    """One system on an empty Valkey and an empty database, no process of it running yet."""

    system: System
    settings: Settings
    database: models.base.Database
    place: Place

    def send(self, orders: Sequence[Order]) -> dict[str, int]:
        """Submit from a process of its own, each at its time; return when each task was submitted, epoch ms."""
        with self.sender(orders) as go:
            return go()

    @contextmanager
    def sender(self, orders: Sequence[Order]) -> Iterator[Callable[[], dict[str, int]]]:
        """Make a process ready that will submit; yield what lets it begin, which returns as `send` does."""
        command = (sys.executable, "-m", "benchmarks.peers.sending", self.system.module)
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._environment(), cwd=ROOT
        ) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(orders) + "\n")
            process.stdin.flush()
            assert process.stdout.readline(), f"{self.system.name}: what submits does not start"

            def go() -> dict[str, int]:
                output, _ = process.communicate("\n")
                assert process.returncode == 0, f"{self.system.name}: what submits fails"
                return dict(json.loads(output))

            try:
                yield go
            finally:
                process.kill()

    @contextmanager
    def workers(self, shape: Shape) -> Iterator["Workers"]:
        """Run all processes but web inside the block."""
        with ExitStack() as stack:
            processes = [
                stack.enter_context(_process(command, self._environment(), self.settings.data_dir / "workers.log"))
                for command in self.system.workers(shape, self.settings)
            ]
            yield Workers(tuple(processes))

    @contextmanager
    def web(self) -> Iterator[Served]:
        """Run web inside the block."""
        with served(Candidate(self.system.name, self.system.web), self.settings.data_dir, self.settings) as web:
            yield web

    def stored(self) -> int:
        """How many results there are."""
        return int(self._ask(f"SELECT count(*) FROM {self.system.results} WHERE ended_ms IS NOT NULL")[0][0])

    def starts(self) -> dict[str, int]:
        """When each task that was begun and, for the peers, stored began, epoch ms."""
        return dict(self._ask(f"SELECT task_id, started_ms FROM {self.system.results} WHERE started_ms IS NOT NULL"))

    def comes_to(self, stored: int, limit_s: float) -> bool:
        """Wait until there are so many results; False when there are not in time."""
        ends_s = time.perf_counter() + limit_s
        while self.stored() < stored:
            if time.perf_counter() > ends_s:
                return False
            time.sleep(LOOK_S)
        return True

    def must_come_to(self, stored: int, limit_s: float = _START_S) -> None:
        """The same; raises with the last words of the processes."""
        if not self.comes_to(stored, limit_s):
            words = "\n".join(file.read_text()[-2000:] for file in self.settings.data_dir.glob("*.log"))
            raise TimeoutError(f"{self.system.name}: {self.stored()} of {stored} results are there\n{words}")

    def _ask(self, statement: str) -> list[Any]:
        with models.base.connection(self.database):
            return list(self.database.execute_sql(statement).fetchall())

    def _environment(self) -> dict[str, str]:
        return {**child_environment(self.settings, program_folders()), "PYTHONPATH": str(ROOT)}


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that were started, and all below them."""

    processes: tuple["subprocess.Popen[bytes]", ...]

    def cpu_s(self) -> float:
        """Their CPU seconds so far."""
        return sum(tree_cpu_s(process.pid) for process in self.processes)


@contextmanager
def turn(system: System, place: Place) -> Iterator[Turn]:
    """Make an empty place for a system; all of it goes with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-peer-")))
        with redis.Redis.from_url(place.valkey.url) as client:
            client.flushall()
        url = f"sqlite:///{folder / 'peers.db'}"
        if place.postgres:
            url = stack.enter_context(made_database(place.postgres.url))
        database = models.base.connect(url)
        stack.callback(close_all, database)
        migrate(database)
        with database.bind_ctx([PeerResult]):
            database.create_tables([PeerResult])
        settings = load_settings(
            data_dir=folder,
            redis_url=place.valkey.url,
            database_url=url,
            words_file=words_file(),
            max_total_pending=10**7,
            max_per_mac_pending=10**6,
            # What else this machine does is no reason to hold a worker here.
            worker_cpu_high_watermark=100,
            worker_mem_high_watermark=100,
            supervisor_pid=os.getpid(),
            log_level="WARNING",
        )
        yield Turn(system, settings, database, place)


def tree_cpu_s(pid: int) -> float:
    """CPU seconds of a process and all below it so far, those that have ended too."""
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += sum(each.cpu_times()[:4])  # user, system, and both of the children that have ended
    return total


@contextmanager
def _process(command: Command, environment: dict[str, str], log_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with log_path.open("ab") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, cwd=ROOT, preexec_fn=die_with_parent
        )
    below: list[psutil.Process] = []
    try:
        yield process
    finally:
        with suppress(psutil.NoSuchProcess):
            below = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        process.kill()
        process.wait()
        for child in below:  # what a pool leaves behind when it is in the middle of a line of thousands
            with suppress(psutil.NoSuchProcess):
                child.kill()
