"""Workers with an engine that obeys: what a picture says, it does, crash or hang included."""

import sys
from contextlib import suppress
from pathlib import Path

import psutil

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
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded
from tests.support.processes import wait_until

ROOT = Path(__file__).parents[2]
WORKER = (sys.executable, "-m", "dramatiq", "tests.support.poison_worker:broker", "--queues", "ocr", "--processes", "1")
SCHEDULER = (sys.executable, "-m", "pipeline.scheduler")


class Ward:
    """Supervised workers whose engine does what the picture says, a scheduler, and the way in.

    Args:
        workers: processes, of one slot each.
    """

    def __init__(self, settings: Settings, folder: Path, workers: int = 2) -> None:
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
        self._programs = {"scheduler": SCHEDULER} | {f"worker-{number}": WORKER for number in range(workers)}
        self.died: list[str] = []
        self.supervisor = Supervisor(SystemClock(), lambda event: self.died.append(event.kind))

    def start(self) -> None:
        for name, command in self._programs.items():
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

    def masters(self) -> list[psutil.Process]:
        """The workers' master processes, in the order of their start."""
        found = [process for process in psutil.Process().children() if "poison_worker" in " ".join(_words_of(process))]
        return sorted(found, key=lambda process: process.pid)

    def has_ended(self, task_id: str) -> bool:
        row = self.ledger.get(task_id)
        return row is not None and row.has_ended

    def stop(self) -> None:
        self.supervisor.stop(list(self._programs))
        self.supervisor.close()


def _words_of(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []
