"""Builds what the commands work with, from the settings."""

from models.announcing import Announcing
from models.base import Database, bind, connect
from models.dead_letters import DeadLetters
from models.deliveries import Deliveries
from models.devices import Devices
from models.ledger import Ledger
from models.statistics import Statistics
from models.task_lists import TaskLists
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.devices import DeviceBook
from pipeline.lists.compiled import open_compiled
from pipeline.lists.following import FollowedLists, follow_lists
from pipeline.lists.library import Library
from pipeline.queue import (
    FairQueue,
    Inspector,
    Pages,
    Roster,
    Standstill,
    open_inspector,
    open_pages,
    open_queue,
    open_roster,
    open_standstill,
)
from pipeline.settings import Settings
from pipeline.storage import open_store


def queue_of(settings: Settings) -> FairQueue:
    return open_queue(settings)


def inspector_of(settings: Settings, *, is_patient: bool = False) -> Inspector:
    return open_inspector(settings, is_patient=is_patient)


def pages_of(settings: Settings) -> Pages:
    return open_pages(settings)


def roster_of(settings: Settings) -> Roster:
    return open_roster(settings)


def standstill_of(settings: Settings) -> Standstill:
    return open_standstill(settings)


def ledger_of(settings: Settings) -> Ledger:
    """Return the ledger on a bound database; use it inside `with connection():`."""
    return Ledger(_bound(settings), SystemClock(), Announcing.of(settings))


def task_lists_of(settings: Settings) -> TaskLists:
    """Return the lists of tasks of a bound database."""
    return TaskLists(_bound(settings))


def devices_of(settings: Settings) -> DeviceBook:
    """Return the devices of a bound database, and of the queue."""
    return DeviceBook(Devices(_bound(settings)), open_pages(settings), open_queue(settings))


def statistics_of(settings: Settings) -> Statistics:
    """Return the statistics of a bound database."""
    return Statistics.of(settings, _bound(settings))


def dead_letters_of(settings: Settings) -> DeadLetters:
    """Return the dead letters of a bound database; use them inside `with connection():`."""
    return DeadLetters(_bound(settings), SystemClock())


def library_of(settings: Settings) -> Library:
    """Return the lists of words of a bound database."""
    shelf = _shelf_of(settings)
    store = open_store(settings.effective_storage_url)
    return Library(shelf, open_compiled(shelf, store, settings))


def lists_of(settings: Settings) -> FollowedLists:
    """Return the lists of words that are in effect."""
    return follow_lists(_shelf_of(settings), open_store(settings.effective_storage_url), settings)


def _shelf_of(settings: Settings) -> WordShelf:
    return WordShelf(_bound(settings), SystemClock())


def deliveries_of(settings: Settings) -> Deliveries:
    """Return the deliveries of a bound database; use them inside `with connection():`."""
    return Deliveries(_bound(settings), SystemClock(), ttl_ms=settings.webhook_ttl_seconds * 1000)


def _bound(settings: Settings) -> Database:
    database = connect(settings.effective_database_url)
    bind(database)
    return database
