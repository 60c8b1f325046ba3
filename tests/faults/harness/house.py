"""A fairlane as the Procfile starts it, on servers that can be hurt, restarted by nobody but its own runner."""

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from models.base import connect
from models.migrate import migrate
from pipeline.clock import SystemClock
from pipeline.queue import open_inspector, open_queue
from pipeline.runner.child import Program
from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.runner.supervisor import Event, Supervisor
from pipeline.settings import child_environment
from tests.acceptance.conftest import settings_for
from tests.faults.harness.books import book_of
from tests.faults.harness.client import ask
from tests.faults.harness.journal import Journal
from tests.faults.harness.load import Kind
from tests.faults.harness.servers import Servers, start_servers
from tests.support.databases import close_all
from tests.support.parts import ROOT
from tests.support.processes import is_alive, wait_until
from tests.support.servers import S3_CREDENTIALS

_LIGHT_WORKER = "tests.faults.harness.light_worker:broker"
#: Another one of the Procfile's OCR workers, as a module and its arguments.
OCR_WORKER = ("dramatiq", _LIGHT_WORKER, "--queues", "ocr", "--processes", "1", "--threads", "4")
_SECRET = "whsec_" + "a2V5" * 8


class House:
    """Web, scheduler and workers by the Procfile, the OCR workers with a light engine.

    Args:
        lease_s: the promise for a killed worker; the product's own is 30.
        room: as in `start_servers`.
        on_sqlite: the ledger is a file on a disk of its own; PostgreSQL stands idle.
        overrides: other settings.
    """

    def __init__(self, lease_s: int = 6, room: int = 1, *, on_sqlite: bool = False, **overrides: object) -> None:
        self.servers: Servers = start_servers(room)
        self.clock = SystemClock()
        servers = self.servers
        usual: dict[str, object] = {
            "redis_url": servers.redis_url,
            "database_url": servers.sqlite_url if on_sqlite else servers.database_url,
            "storage_url": servers.storage_url,
            "lease_seconds": lease_s,
            "lease_renew_seconds": max(1, lease_s // 3),
            "worker_heartbeat_seconds": 2,
            "worker_ttl_seconds": 8,
            # What is killed a hundred times is no poison here.
            "max_deliveries": 1_000,
            "webhook_url": servers.receiver.url,
            "webhook_secrets": _SECRET,
            "webhook_allow_private": True,
            "webhook_allow_http": True,
        }
        self.settings = settings_for(servers.folder / "data", **{**usual, **overrides})
        self.settings.data_dir.mkdir()
        self.events: list[Event] = []
        #: Begins the ids of the tasks of this round.
        self.prefix = ""
        #: Tasks that a fault itself has sent in this round, without an answer.
        self.strays: dict[str, Kind] = {}
        database = connect(self.settings.effective_database_url)
        migrate(database)
        close_all(database)
        # Past the proxy, where there is one.
        past = servers.postgres_server.url if not on_sqlite else self.settings.effective_database_url
        self.journal = Journal(book_of(past))
        self.inspector = open_inspector(self.settings, is_patient=True)
        self.queue = open_queue(self.settings)
        self.supervisor = Supervisor(self.clock, self.events.append)

    @property
    def web(self) -> tuple[str, int]:
        """Where it serves."""
        host, _, port = self.settings.web_bind.rpartition(":")
        return host, int(port)

    @property
    def environment(self) -> Mapping[str, str]:
        return {**child_environment(self.settings, program_folders()), **S3_CREDENTIALS, "PYTHONPATH": str(ROOT)}

    def start(self) -> None:
        """Return once every lane is served and web is ready."""
        for name, command in read_procfile(find_procfile()).items():
            words = tuple(_LIGHT_WORKER if name == "ocr" and word == "pipeline.actors" else word for word in command)
            self.supervisor.start(Program(name, words, self.environment, self.log_file(name), drain_s=10))
        wait_until(lambda: len(self.workers()) >= 2 and self.answers("/readyz"), 180)

    def stop(self) -> None:
        self.supervisor.close()
        self.journal.close()
        self.servers.close()

    def answers(self, path: str) -> bool:
        """Whether web says 200 there."""
        with suppress(OSError):
            return ask(self.web, "GET", path).status == 200
        return False

    def workers(self) -> list[bytes]:
        with self.servers.valkey_client() as client:
            return list(client.zrange(self.inspector.keys.workers(), 0, -1))

    def tree(self, name: str) -> list[psutil.Process]:
        """The process of that name in the Procfile and those below it, parents first; none while it is down."""
        pid = self.supervisor.pid(name) if name else None
        if pid is None:
            return []
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            return [process, *process.children(recursive=True)]
        return []

    def worker(self, name: str) -> psutil.Process:
        """The working process below a Dramatiq or gunicorn master: the child that was started first, of its code."""
        wait_until(lambda: len(self.tree(name)) > 1, 120)
        return next(process for process in self.tree(name)[1:] if "resource_tracker" not in _words(process))

    def engine(self) -> psutil.Process:
        """The child that holds the engine of the OCR worker."""
        found: list[psutil.Process] = []

        def look() -> bool:
            worker = self.worker("ocr")
            found[:] = [child for child in _children(worker) if "spawn_main" in _words(child)]
            return bool(found)

        wait_until(look, 120)
        return found[0]

    def log_file(self, name: str) -> Path:
        return self.servers.folder / "log" / f"{name}.log"

    def program(self, name: str, *command: str) -> Program:
        """A Python program with the settings of this house that is not in the Procfile."""
        return Program(name, (sys.executable, *command), self.environment, self.log_file(name), drain_s=10)


def pause(seconds: float) -> None:
    """Let the world go on for a while."""
    threading.Event().wait(seconds)


def comes_true(holds: Callable[[], object], limit_s: float, every_s: float = 0.3) -> bool:
    """Ask again and again; False when it did not come true in time."""
    clock = SystemClock()
    end_ms = clock.monotonic_ms() + limit_s * 1000
    while not holds():
        if clock.monotonic_ms() > end_ms:
            return False
        pause(every_s)
    return True


def is_gone(process: psutil.Process) -> bool:
    """Whether exactly this process has ended."""
    return not process.is_running() or not is_alive(process.pid)


def _children(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return list(process.children())
    return []


def _words(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
