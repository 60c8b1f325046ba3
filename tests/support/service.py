"""The parts of the service put together for tests, and a look at every trace that they leave."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import falcon
import falcon.testing
import pytest
import redis

from models.announcing import Announcing
from models.audit import AuditTrail
from models.dead_letters import DeadLetters
from models.deliveries import Deliveries
from models.devices import Devices
from models.keys import ApiKeys
from models.ledger import Ledger
from models.reports import DetectorReports
from models.statistics import Statistics
from models.task_lists import TaskLists
from models.word_shelf import WordShelf
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.sources import Source
from pipeline.devices import DeviceBook
from pipeline.errors import DatabaseUnavailable, QueueUnavailable, StorageUnavailable
from pipeline.intake import Intake
from pipeline.lists.compiled import open_compiled
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.queue import (
    Counters,
    FairQueue,
    History,
    Inspector,
    Pages,
    Pulse,
    RequestLimits,
    Roster,
    Rules,
    Standstill,
)
from pipeline.queue.keys import Keys
from pipeline.settings import Settings
from pipeline.storage import ObjectStore
from tests.support.asked_again import AskedAgain
from tests.support.clock import FakeClock
from tests.support.described import DescribedClient
from web.app import create_app
from web.measured import Measured
from web.parts import Parts

MAC = "aabbccddeeff"
#: Lists are looked at anew when a test says so.
_NEVER_S = 3600

#: For what is refused before the database is asked: one kind of database is enough.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Service:
    """Everything that serves HTTP, on a fake clock.

    Args:
        folder: where `store` keeps its objects.
    """

    def __init__(
        self,
        client: redis.Redis,
        database: Any,
        store: ObjectStore,
        folder: Path,
        clock: FakeClock,
        settings: Settings,
    ) -> None:
        self.client, self.database, self.store, self.folder = client, database, store, folder
        self.clock, self.settings = clock, settings
        rules = Rules.of(settings)
        self.queue = FairQueue(client, rules, clock)
        self.inspector = Inspector(client, rules, clock)
        keys = Keys(rules.prefix)
        self.roster = Roster(client, keys, clock)
        self.pulse, self.counters = Pulse(client, [keys]), Counters(client, keys, is_timed=False)
        self.history = History(client, keys, interval_ms=settings.watermark_publish_interval * 1000)
        self.standstill = Standstill(client, keys, self.pulse, self.roster, clock)
        self.ledger = Ledger(database, clock, Announcing.of(settings))
        self.reports = DetectorReports(database, clock)
        self.dead_letters = DeadLetters(database, clock)
        shelf = WordShelf(database, clock)
        compiled = open_compiled(shelf, store, settings)
        self.library = Library(shelf, compiled)
        self.lists = FollowedLists(shelf, compiled, [Source(Lexicon(["刷单"]), name="house")], poll_s=_NEVER_S)
        self.api_keys = ApiKeys(database, clock)
        self.trail = AuditTrail(database, clock)
        self.limits = RequestLimits(client, keys, clock)
        self.statistics = Statistics(database, 0)
        self.deliveries = Deliveries(database, clock, ttl_ms=settings.webhook_ttl_seconds * 1000)
        self.pages = Pages(client, rules, clock)
        self.devices = DeviceBook(Devices(database), self.pages, self.queue)
        self.pauses: list[float] = []
        self.on_pause: Callable[[], None] = lambda: None

    def intake(self, **parts: Any) -> Intake:
        """An intake of these parts, some of them replaced."""
        own: dict[str, Any] = {
            "queue": self.queue,
            "inspector": self.inspector,
            "ledger": self.ledger,
            "store": self.store,
            "settings": self.settings,
        }
        return Intake(**{**own, **parts})

    def app(self, **parts: Any) -> falcon.App:
        """The application of these parts, some of them replaced."""
        own: dict[str, Any] = {
            "queue": self.queue,
            "inspector": self.inspector,
            "roster": self.roster,
            "ledger": self.ledger,
            "tasks": TaskLists(self.database),
            "devices": self.devices,
            "reports": self.reports,
            "dead_letters": self.dead_letters,
            "deliveries": self.deliveries,
            "store": self.store,
            "library": self.library,
            "lists": self.lists,
            "keys": self.api_keys,
            "trail": self.trail,
            "limits": self.limits,
            "statistics": self.statistics,
            "measured": self.measured(),
            "clock": self.clock,
        }
        chosen = {**own, **parts}
        for_intake = {name: chosen[name] for name in ("queue", "inspector", "ledger", "store")}
        return create_app(Parts(settings=self.settings, intake=self.intake(**for_intake), **chosen))

    def measured(self, **parts: Any) -> Measured:
        """What measures these parts, some of them replaced."""
        own: dict[str, Any] = {
            "inspector": self.inspector,
            "roster": self.roster,
            "pulse": self.pulse,
            "standstill": self.standstill,
            "counters": self.counters,
            "history": self.history,
        }
        store, database = parts.pop("store", self.store), parts.pop("database", self.database)
        return Measured.of(self.settings, database, store, self.clock, **{**own, **parts})

    def http(self, **parts: Any) -> falcon.testing.TestClient:
        asked_again = AskedAgain(from_here(self.app(**parts)), self._pause)
        return DescribedClient(asked_again, headers={"Host": "localhost"})

    def queue_like(self, kind: type[FairQueue]) -> FairQueue:
        """The same queue with the manners of `kind`."""
        return kind(self.client, self.queue.rules, self.clock)

    def silent_inspector(self) -> Inspector:
        return SilentInspector(self.client, self.queue.rules, self.clock)

    def row_ids(self) -> list[str]:
        return [row.task_id for row in self.ledger.open_tasks(None, 1000)]

    def objects(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def keys(self) -> list[bytes]:
        return sorted(self.client.keys("*"))

    def traces(self) -> tuple[list[str], list[Path], list[bytes]]:
        """Rows, objects and keys: all that a submit may leave behind."""
        return self.row_ids(), self.objects(), self.keys()

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.advance(round(seconds * 1000))
        self.on_pause()


def from_here(app: Any) -> Any:
    """A WSGI application around ours that is asked from loopback, unless a test says otherwise."""

    def ask(environ: dict[str, Any], start_response: Any) -> Any:
        environ.setdefault("REMOTE_ADDR", "127.0.0.1")
        return app(environ, start_response)

    return ask


class SilentQueue(FairQueue):
    """A queue that answers `admit` and then no more."""

    def enqueue(self, *args: Any, **options: Any) -> Any:
        raise QueueUnavailable("enqueue: no answer from redis://10.1.2.3")


class DeafQueue(FairQueue):
    """A queue whose answer to `enqueue` gets lost."""

    def enqueue(self, *args: Any, **options: Any) -> Any:
        super().enqueue(*args, **options)
        raise QueueUnavailable("enqueue: the answer got lost")


class SilentInspector(Inspector):
    """A view of a queue that does not answer."""

    def find(self, task_id: str) -> Any:
        raise QueueUnavailable("find: no answer from redis://10.1.2.3")

    def lanes(self) -> Any:
        raise QueueUnavailable("lanes: no answer from redis://10.1.2.3")

    def watermark(self) -> Any:
        raise QueueUnavailable("watermark: no answer from redis://10.1.2.3")

    def explain(self, *args: Any, **options: Any) -> Any:
        raise QueueUnavailable("silent")


class BrokenStore:
    """An object store that is down."""

    def put(self, key: str, data: bytes) -> None:
        raise StorageUnavailable("put: no answer from s3://10.1.2.3")

    def delete(self, key: str) -> None:
        raise StorageUnavailable("delete: no answer from s3://10.1.2.3")

    def check(self) -> None:
        raise StorageUnavailable("check: no answer from s3://10.1.2.3")


class BrokenLedger(Ledger):
    """A ledger that still reads, while writing fails."""

    def accept(self, *args: Any, **options: Any) -> Any:
        raise DatabaseUnavailable("accept: server at 10.1.2.3 closed the connection")
