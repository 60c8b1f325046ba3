"""Announcements by hand: tasks that end, the scheduler's rounds, and a worker that is told when to work."""

from typing import Any

import redis

from models.announcing import Announcing
from models.base import Database
from models.deliveries import ChosenDeliveries, Deliveries
from models.delivery_line import DeliveryLine
from models.ledger import DetectionRecord, Finished, Ledger
from models.webhook_delivery import DeliveryRow
from pipeline.actors.notify import NotifyWork
from pipeline.clock import SystemClock
from pipeline.queue import Claim, Counters, FairQueue, Inspector, Rules
from pipeline.receivers import ReceiverRules
from pipeline.scheduler.announce import Announcer
from pipeline.webhooks.sending import Sender
from tests.support.clock import FakeClock
from tests.support.receivers import at_loopback
from tests.support.records import new_task
from tests.support.service import Service

MAC = "aabbccddeeff"
KEY = b"k" * 24
TTL_MS = 172_800_000
HIT: dict[str, Any] = {"word": "刷单", "list": "global", "surface": "刷 单", "start": 2, "end": 5}


CALLBACK = "https://receiver.example/hook?token=sesame"


def announce(service: Service, task_id: str, *, mac: str = MAC, site: str = "local", state: str = "pending") -> int:
    """Let a task end with a hit that is announced; the id of the delivery, which stands as wanted."""
    service.ledger.accept(new_task(task_id, mac=mac, site=site, lane="text", callback_url=CALLBACK))
    service.ledger.start(task_id, 1, 1)
    service.ledger.finish(task_id, 1, Finished(None, DetectionRecord("x", "block", [HIT]), [], 1))
    line = DeliveryLine(service.database, service.clock)
    due = line.due(passing_over=(), limit=99)[-1]
    if state != "pending":
        line.note_lined(due)
        line.begin(due.name, 1)
    if state == "failed":
        line.note_failure(due.delivery_id, 1, 410, "the receiver is gone for good", is_final=True)
    if state == "delivered":
        line.note_taken(due.delivery_id, 1, 204)
    service.clock.advance(1000)
    return due.delivery_id


class Bureau:
    """A ledger that announces, its queue, a scheduler's duty and a worker; on a clock that is turned by hand.

    Args:
        url: of the configured receiver.
    """

    def __init__(
        self, client: redis.Redis, database: Database, clock: FakeClock, url: str = "", *, is_every_end: bool = False
    ) -> None:
        self.clock = clock
        self.ledger = Ledger(database, clock, Announcing(url, is_every_end, TTL_MS))
        self.deliveries = Deliveries(database, clock, ttl_ms=TTL_MS)
        self.line = DeliveryLine(database, clock)
        self.queue = FairQueue(client, Rules(), clock)
        self.inspector = Inspector(client, Rules(), clock)
        self.announcer = Announcer(self.queue, self.inspector, self.line)
        rules = ReceiverRules(allow_private=True, allow_http=True)
        self.sender = Sender(rules, SystemClock(), timeout_s=20, resolve=at_loopback)
        self.work = NotifyWork(self.line, self.sender, [KEY], Counters(client, self.queue.keys, is_timed=False), clock)
        self.tokens = 0

    def end(self, task_id: str = "t1", *, hits: int = 1, **changes: Any) -> None:
        """Accept a text and finish it with so many hits; the rest as in `NewTask`."""
        self.begin(task_id, **changes)
        found = DetectionRecord("x", "block" if hits else "pass", [HIT] * hits, label="spam", level=3, score=0.9)
        self.ledger.finish(task_id, self.tokens, Finished(None, found, [], 1))

    def begin(self, task_id: str = "t1", **changes: Any) -> None:
        self.tokens += 1
        self.ledger.accept(new_task(task_id, **{"lane": "text", "created_ms": self.clock.now_ms(), **changes}))
        self.ledger.start(task_id, self.tokens, 1)

    def claim(self) -> Claim | None:
        """What a worker would claim next, started."""
        for claim in self.queue.claim("notify"):
            self.queue.start(claim.task_id, claim.token)
            return claim
        return None

    def attempt(self) -> bool:
        """Let the worker do one task that is in line; False when there is none."""
        claim = self.claim()
        if claim is None:
            return False
        self.work.run(claim.task_id, claim.token)
        self.queue.complete(claim.task_id, claim.token, cost_ms=1)
        return True

    def settle(self, seconds: int = 0) -> int:
        """Turn the clock, then let scheduler and worker do all that is due; return how many attempts that were."""
        self.clock.advance(seconds * 1000)
        attempts = 0
        self.announcer.put_in_line()
        while self.attempt():
            attempts += 1
            self.announcer.put_in_line()
        return attempts

    def rows(self, **chosen: Any) -> list[DeliveryRow]:
        """The deliveries, oldest first."""
        return self.deliveries.page(ChosenDeliveries(**chosen), before=None, limit=1000)[::-1]

    def row(self, **chosen: Any) -> DeliveryRow:
        (row,) = self.rows(**chosen)
        return row

    def step(self, task_id: str = "t1") -> tuple[str, str]:
        """State and reason of the task's step `notify`."""
        view = self.ledger.view(task_id)
        assert view
        return next((step.state, step.reason) for step in view.steps if step.name == "notify")
