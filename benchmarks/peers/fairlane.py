"""fairlane's own way in, for the process that submits: validated, admitted, written to the ledger, put in line."""

import models.base
from models.ledger import Ledger
from pipeline.clock import SystemClock
from pipeline.intake import Intake
from pipeline.queue import open_inspector, open_queue
from pipeline.settings import load_settings
from pipeline.storage import open_store
from pipeline.submission import TextSubmission

_settings = load_settings()
_database = models.base.connect(_settings.effective_database_url)
models.base.bind(_database)
_intake = Intake(
    open_queue(_settings),
    open_inspector(_settings),
    Ledger(_database, SystemClock()),
    open_store(_settings.effective_storage_url),
    _settings,
)


def send(mac: str, text: str, _: int) -> str:
    """Accept a text; return its task id. How long it takes is the worker's to know."""
    return _intake.submit_text(TextSubmission(mac, text)).task_id
