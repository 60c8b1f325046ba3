"""The parts of a running fairlane that a test speaks to itself, beside its processes."""

import sys
from pathlib import Path

import models.base
from models.ledger import Ledger
from models.migrate import migrate
from models.rows import TaskRow
from pipeline.clock import SystemClock
from pipeline.intake import Intake, Receipt
from pipeline.queue import Inspector, Roster, open_inspector, open_queue, open_roster
from pipeline.settings import Settings, child_environment
from pipeline.storage import open_store
from pipeline.submission import ImageSubmission
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded

ROOT = Path(__file__).parents[2]
SCHEDULER = (sys.executable, "-m", "pipeline.scheduler")


def ocr_worker(module: str) -> tuple[str, ...]:
    """The command of a worker of the lane `ocr` whose broker is in a module of `tests.support`."""
    return (sys.executable, "-m", "dramatiq", f"tests.support.{module}:broker", "--queues", "ocr", "--processes", "1")


#: Its engine does what the picture says.
OBEDIENT_WORKER = ocr_worker("poison_worker")


class Parts:
    """Ledger, views and the way in, on a migrated database."""

    def __init__(self, settings: Settings) -> None:
        database = models.base.connect(settings.effective_database_url)
        migrate(database)
        models.base.bind(database)
        self.settings = settings
        self.database = database
        self.ledger = Ledger(database, SystemClock())
        self.inspector: Inspector = open_inspector(settings)
        self.roster: Roster = open_roster(settings)
        self.store = open_store(settings.effective_storage_url)
        self.intake = Intake(open_queue(settings), self.inspector, self.ledger, self.store, settings)

    def row_of(self, task_id: str) -> TaskRow:
        """What the ledger has of a task that it knows."""
        row = self.ledger.get(task_id)
        assert row is not None
        return row


class Obedience(Parts):
    """The same, for workers whose engine does what the picture says.

    Args:
        folder: where their logs go.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        super().__init__(settings)
        self.folder = folder
        self.environment = {**child_environment(settings, ()), "PYTHONPATH": str(ROOT)}
        self._picture = encoded(corner_marked())

    def submit(self, order: bytes, mac: str) -> str:
        """Submit a picture that makes the engine do something, or nothing but read."""
        image = self._picture + MARKER + order if order else self._picture
        return self.intake.submit_image(ImageSubmission(mac, image)).task_id

    def submit_again(self, task_id: str, mac: str) -> Receipt:
        """Submit the picture that makes the engine do nothing but read, under an id of one's own."""
        return self.intake.submit_image(ImageSubmission(mac, self._picture, task_id=task_id))
