"""Web, scheduler and text worker as the Procfile starts them, and what they and their servers have used so far."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import redis

import models.base
from models.migrate import migrate
from pipeline.clock import SystemClock
from pipeline.queue import open_inspector, open_roster
from pipeline.runner.child import Program
from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.runner.supervisor import Supervisor
from pipeline.samples import words_file
from pipeline.settings import Settings, child_environment
from tests.support.databases import close_all, execute, made_database
from tests.support.own_servers import started_postgres, started_valkey
from tests.support.processes import wait_until
from tests.support.servers import Server, answers_ping, free_port

_STARTED = ("web", "scheduler", "text")
_LIMIT_S = 300
_MB = 1_000_000
#: What a client sends for a transaction besides its statements, and what this module asks itself.
_FRAMES = "'^(BEGIN|COMMIT|ROLLBACK)'"
_OURS = "'pg_stat_statements|count\\(\\*\\) FROM task'"


@dataclass(frozen=True, slots=True)
class Used:
    """What had been used at one moment; the difference of two is what was used between them.

    Args:
        cpu_s: of each process with its children, of the servers too.
        counts: of the servers: commands, round trips, bytes, statements, commits.
    """

    cpu_s: Mapping[str, float]
    counts: Mapping[str, float]

    def since(self, before: "Used") -> "Used":
        return Used(_less(self.cpu_s, before.cpu_s), _less(self.counts, before.counts))


class TextHouse:
    """One way of running fairlane for texts.

    Args:
        valkey, postgres: its servers; without a PostgreSQL the database is SQLite.
    """

    def __init__(self, settings: Settings, valkey: Server, postgres: Server | None) -> None:
        self.settings = settings
        self._valkey = redis.Redis.from_url(valkey.url)
        self._servers = {"Valkey": valkey.process.pid} | ({"PostgreSQL": postgres.process.pid} if postgres else {})
        self.database = models.base.connect(settings.effective_database_url)
        self._supervisor = Supervisor(SystemClock(), lambda _: None)

    @property
    def port(self) -> int:
        return int(self.settings.web_bind.rpartition(":")[2])

    def start(self) -> None:
        """Return once the lane is served and web answers."""
        commands = read_procfile(find_procfile())
        environment = child_environment(self.settings, program_folders())
        for name in _STARTED:
            log = self.settings.data_dir / f"{name}.log"
            self._supervisor.start(Program(name, commands[name], environment, log, drain_s=20))
        roster = open_roster(self.settings)
        wait_until(lambda: roster.workers() and self._is_listening(), 120)

    def stop(self) -> None:
        self._supervisor.stop(_STARTED)
        self._supervisor.close()
        self._valkey.close()
        close_all(self.database)

    @contextmanager
    def text_worker_stopped(self) -> Iterator[None]:
        """No task is claimed inside the block; its end lets the worker go on at once."""
        workers = self._trees(("text",))["text"]
        for process in workers:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in workers:
                process.send_signal(signal.SIGCONT)

    def wait_until_done(self) -> int:
        """Return when the last task ended, epoch ms, once all have ended well and the queue has been told."""
        inspector = open_inspector(self.settings)
        with models.base.connection(self.database):
            wait_until(lambda: not self._number("SELECT count(*) FROM task WHERE ended_ms IS NULL"), _LIMIT_S)
            assert not self._number("SELECT count(*) FROM task WHERE state <> 'done'")
            ended_ms = self._number("SELECT max(ended_ms) FROM task")
        wait_until(lambda: all(books.leased == 0 for books in inspector.audit()), _LIMIT_S)
        return ended_ms

    def used(self) -> Used:
        """What has been used so far."""
        trees = self._trees(_STARTED) | {name: _tree(pid) for name, pid in self._servers.items()}
        cpu_s = {name: sum(map(_cpu_s, tree)) for name, tree in trees.items()}
        return Used(cpu_s, {**_redis_counts(self._valkey), **self._database_counts()})

    def memory_mb(self) -> dict[str, tuple[float, float]]:
        """Of each process, its children included: resident, and of that its own alone."""
        found = {}
        for name, tree in self._trees(_STARTED).items():
            sizes = [process.memory_full_info() for process in tree]
            found[name] = (sum(size.rss for size in sizes) / _MB, sum(size.uss for size in sizes) / _MB)
        return found

    def server_version(self) -> str:
        return str(self._valkey.info("server").get("valkey_version", "unknown"))

    def _is_listening(self) -> bool:
        return any(
            connection.status == psutil.CONN_LISTEN
            for process in self._trees(("web",))["web"]
            for connection in process.net_connections("tcp")
        )

    def _trees(self, names: tuple[str, ...]) -> dict[str, list[psutil.Process]]:
        pids = {name: self._supervisor.pid(name) for name in names}
        return {name: _tree(pid) if pid else [] for name, pid in pids.items()}

    def _number(self, question: str) -> int:
        return int(self.database.execute_sql(question).fetchone()[0] or 0)

    def _database_counts(self) -> dict[str, float]:
        if "PostgreSQL" not in self._servers:
            return {}
        # A connection of its own: what pg_stat_database says is not of the snapshot of a transaction.
        with closing(psycopg2.connect(self.settings.effective_database_url)) as connection:
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute(
                f"SELECT coalesce(sum(calls) FILTER (WHERE query !~ {_FRAMES}), 0), coalesce(sum(calls), 0), "
                "coalesce(sum(calls) FILTER (WHERE query LIKE 'COMMIT%%'), 0), coalesce(sum(wal_bytes), 0) "
                f"FROM pg_stat_statements WHERE query !~ {_OURS} "
                "AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            names = ("statements", "with BEGIN and COMMIT", "commits", "WAL bytes")
            return {name: float(number) for name, number in zip(names, cursor.fetchone(), strict=True)}


@contextmanager
def text_house(folder: Path, name: str, **overrides: object) -> Iterator[TextHouse]:
    """A running one on SQLite or PostgreSQL; the latter with fsync, as it is for real, and its statements counted."""
    with ExitStack() as stack:
        valkey = stack.enter_context(started_valkey("127.0.0.1"))
        wait_until(lambda: answers_ping(valkey.url))
        postgres, url = None, f"sqlite:///{folder / 'fairlane.db'}"
        if name == "PostgreSQL":
            postgres = stack.enter_context(started_postgres())
            execute(postgres.url, "ALTER SYSTEM SET fsync TO on")
            execute(postgres.url, "ALTER SYSTEM SET shared_preload_libraries TO pg_stat_statements")
            postgres.stop()
            postgres.start()
            url = stack.enter_context(made_database(postgres.url))
            execute(url, "CREATE EXTENSION pg_stat_statements")
        house = TextHouse(_settings(folder, valkey.url, url, overrides), valkey, postgres)
        migrate(house.database)
        house.start()
        try:
            yield house
        finally:
            house.stop()


def _settings(folder: Path, redis_url: str, database_url: str, overrides: Mapping[str, object]) -> Settings:
    """As delivered, but for limits that a benchmark would meet: they are counted, and never reached."""
    usual: dict[str, Any] = {
        "data_dir": folder,
        "redis_url": redis_url,
        "database_url": database_url,
        "web_bind": f"127.0.0.1:{free_port()}",
        "words_file": words_file(),
        "max_total_pending": 10**7,
        "max_per_mac_pending": 10**6,
        "rate_per_device": 10**6,
        "rate_per_address": 10**7,
        # The machine is busy with the benchmark.
        "worker_cpu_high_watermark": 100,
        "worker_mem_high_watermark": 100,
    }
    return Settings(_env_file=None, **{**usual, **overrides})


def _redis_counts(client: redis.Redis) -> dict[str, float]:
    stats, commands = client.info("stats"), client.info("commandstats")
    return {
        "commands": sum(each["calls"] for each in commands.values()),
        "round trips, queue": stats["total_reads_processed"],
        "bytes to the queue": stats["total_net_input_bytes"],
        "bytes from the queue": stats["total_net_output_bytes"],
    }


def _tree(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _cpu_s(process: psutil.Process) -> float:
    """Of the process, and of those of its children that have ended."""
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


def _less(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    return {name: value - before.get(name, 0.0) for name, value in after.items()}
