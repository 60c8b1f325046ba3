"""A real Dramatiq worker in this process: real queue, real ledger, and work that a test decides."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import dramatiq
import pytest
import redis
from dramatiq import Worker

import models.base
from models.ledger import DetectionRecord, Finished, Ledger, NewTask
from pipeline.broker import FairBroker
from pipeline.clock import SystemClock
from pipeline.errors import FairlaneError
from pipeline.middleware import Context, LeaseRenewal, Measure, Outcome, Presence, RetryRules
from pipeline.queue import FairQueue, Inspector, Roster, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.workers.registry import WorkerRegistry

MAC = "aabbccddeeff"
CLOCK = SystemClock()
RULES = Rules(lease_ms=3_000)


@dataclass
class Shop:
    """A worker of the lane `text` whose work is `self.work`; everything around it is the product's."""

    queue: FairQueue
    inspector: Inspector
    roster: Roster
    ledger: Ledger
    broker: FairBroker
    work: Callable[[str, int, int], None] = lambda task_id, token, attempt: None
    calls: list[str] = field(default_factory=list)
    worker: Worker | None = None

    def submit(self, task_id: str) -> None:
        """Accept a task and put it in line, as the intake does."""
        now_ms = CLOCK.now_ms()
        self.ledger.accept(NewTask(task_id, "text", MAC, "local", "0" * 64, {"text": "x"}, 1, None, now_ms))
        self.queue.enqueue(Task(task_id, "text", MAC, now_ms))

    def start(self, threads: int = 2) -> None:
        self.worker = Worker(self.broker, queues={"text"}, worker_threads=threads, worker_timeout=50)
        self.worker.start()

    def stop(self) -> None:
        if self.worker:
            self.worker.stop()
            self.worker = None

    def do(self, task_id: str, token: int, attempt: int) -> None:
        """What the product's actors do around their work: begin in the ledger, and finish there."""
        self.calls.append(task_id)
        self.ledger.start(task_id, token, attempt)
        self.work(task_id, token, attempt)
        self.ledger.finish(task_id, token, Finished(None, DetectionRecord("x", "pass", []), [], 1))


@pytest.fixture
def shop(valkey: redis.Redis, valkey_url: str, database: models.base.Database) -> Iterator[Shop]:
    ledger = Ledger(database, CLOCK)
    roster = Roster(valkey, Keys(RULES.prefix), CLOCK)
    broker = FairBroker(
        FairQueue(valkey, RULES),
        poll_s=0.2,
        middleware=[
            Context(),
            Presence(WorkerRegistry(roster, CLOCK, ttl_ms=5_000), engine_slots=1, engine_name="rapid", heartbeat_s=1),
            LeaseRenewal(FairQueue(redis.Redis.from_url(valkey_url), RULES), renew_s=0.5),
            Outcome(ledger, CLOCK, RetryRules(max_attempts=4, max_losses=3, base_ms=1, max_ms=1)),
            Measure(CLOCK),
        ],
    )
    shop = Shop(FairQueue(valkey, RULES), Inspector(valkey, RULES), roster, ledger, broker)
    dramatiq.actor(shop.do, broker=broker, actor_name="execute_text", queue_name="text", throws=(FairlaneError,))
    yield shop
    shop.stop()
