"""Wiring of the HTTP processes: what `gunicorn web.wsgi:app` loads in each worker."""

import atexit

from models.announcing import Announcing
from models.audit import AuditTrail
from models.base import bind, connect
from models.dead_letters import DeadLetters
from models.deliveries import Deliveries
from models.devices import Devices
from models.keys import ApiKeys, insist_on_keys
from models.ledger import Ledger
from models.reports import DetectorReports
from models.statistics import Statistics
from models.task_lists import TaskLists
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.devices import DeviceBook
from pipeline.intake import Intake
from pipeline.lists.compiled import open_compiled
from pipeline.lists.following import follow_lists
from pipeline.lists.library import Library
from pipeline.queue import (
    open_counters,
    open_history,
    open_inspector,
    open_pages,
    open_pulse,
    open_queue,
    open_request_limits,
    open_roster,
    open_standstill,
)
from pipeline.settings import load_settings
from pipeline.storage import open_store
from pipeline.tracing import open_traces
from web.app import create_app
from web.keyring import warn_when_open
from web.measured import Measured
from web.parts import Parts

settings = load_settings()
clock = SystemClock()
database = connect(settings.effective_database_url)
bind(database)
queue, inspector, roster = open_queue(settings), open_inspector(settings), open_roster(settings)
ledger, reports = Ledger(database, clock, Announcing.of(settings)), DetectorReports(database, clock)
keys = ApiKeys(database, clock)
store = open_store(settings.effective_storage_url)
counters = open_counters(settings)
atexit.register(counters.close)
traces = open_traces(settings.traces_endpoint, "web")
if traces:
    atexit.register(traces.close)
shelf = WordShelf(database, clock)
parts = Parts(
    settings=settings,
    clock=clock,
    intake=Intake(queue, inspector, ledger, store, settings),
    queue=queue,
    inspector=inspector,
    roster=roster,
    limits=open_request_limits(settings),
    ledger=ledger,
    tasks=TaskLists(database),
    devices=DeviceBook(Devices(database), open_pages(settings), queue),
    reports=reports,
    dead_letters=DeadLetters(database, clock),
    deliveries=Deliveries(database, clock, ttl_ms=settings.webhook_ttl_seconds * 1000),
    library=Library(shelf, open_compiled(shelf, store, settings)),
    lists=follow_lists(shelf, store, settings),
    keys=keys,
    trail=AuditTrail(database, clock),
    statistics=Statistics.of(settings, database),
    store=store,
    traces=traces,
    measured=Measured.of(
        settings,
        database,
        store,
        clock,
        inspector=inspector,
        roster=roster,
        pulse=open_pulse(settings),
        standstill=open_standstill(settings),
        counters=counters,
        history=open_history(settings),
    ),
)
app = create_app(parts)
insist_on_keys(settings, keys)
warn_when_open(keys)
