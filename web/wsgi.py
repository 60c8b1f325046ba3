"""Wiring of the HTTP processes: what `gunicorn web.wsgi:app` loads in each worker."""

from models.base import bind, connect
from models.dead_letters import DeadLetters
from models.ledger import Ledger
from models.reports import DetectorReports
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.intake import Intake
from pipeline.lists.compiled import open_compiled
from pipeline.lists.following import follow_lists
from pipeline.lists.library import Library
from pipeline.queue import open_inspector, open_queue, open_roster
from pipeline.settings import load_settings
from pipeline.storage import open_store
from web.app import create_app

settings = load_settings()
clock = SystemClock()
database = connect(settings.effective_database_url)
bind(database)
queue, inspector, roster = open_queue(settings), open_inspector(settings), open_roster(settings)
ledger, reports = Ledger(database, clock), DetectorReports(database, clock)
store = open_store(settings.effective_storage_url)
shelf = WordShelf(database, clock)
app = create_app(
    settings,
    intake=Intake(queue, inspector, ledger, store, settings),
    queue=queue,
    inspector=inspector,
    roster=roster,
    ledger=ledger,
    reports=reports,
    dead_letters=DeadLetters(database, clock),
    store=store,
    library=Library(shelf, open_compiled(shelf, store, settings)),
    lists=follow_lists(shelf, store, settings),
    clock=clock,
)
