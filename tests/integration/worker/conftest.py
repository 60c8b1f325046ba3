"""A real Dramatiq worker in this process: real queue, real ledger, and work that a test decides."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import dramatiq
import pytest
import redis
from dramatiq import Worker

import models.base
from models.ledger import DetectionRecord, Finished, Ledger, NewTask
from pipeline.attempts import Attempt
from pipeline.broker import FairBroker
from pipeline.clock import SystemClock
from pipeline.middleware import Backpressure, Counting, LeaseRenewal, Measure, Outcome, Presence, RetryRules
from pipeline.queue import Counters, FairQueue, Inspector, Roster, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.workers.registry import WorkerRegistry
from pipeline.workers.sampler import CPU_OVER, MEMORY_OVER, HostFigures, Judged, Probes, Sampler
from pipeline.workers.watermark import Watermark

MAC = "aabbccddeeff"
WORD_FAULT = "global list house, version 2: is damaged; version 1 stays in use"
CLOCK = SystemClock()
RULES = Rules(lease_ms=3_000)


@dataclass
class Host:
    """What the probes of a worker find; a test sets it."""

    load_percent: float | None = 0.0
    memory_percent: float | None = 0.0
    renewals: int = 0

    def renew(self) -> int:
        """Stands for the engine's processes that are replaced."""
        self.renewals += 1
        return 1

    def sampler(self) -> Sampler:
        """A sampler that judges what is set here, quickly."""
        probes = Probes(cpu=lambda: None, memory=lambda: None, gpu=lambda: None)  # type: ignore[arg-type,return-value]
        judged: Judged = {
            CPU_OVER: (Watermark(75, 60), lambda _: self.load_percent),
            MEMORY_OVER: (Watermark(75, 60), lambda _: self.memory_percent),
        }
        return Sampler(probes, judged, period_s=0.02)


@dataclass
class Shop:
    """A worker of the lane `text` whose work is `self.work`; everything around it is the product's."""

    queue: FairQueue
    inspector: Inspector
    roster: Roster
    ledger: Ledger
    broker: FairBroker
    host: Host
    counters: Counters
    work: Callable[[str, int, int], None] = lambda task_id, token, attempt: None
    calls: list[str] = field(default_factory=list)
    #: What was done by one slot together.
    slots: list[list[str]] = field(default_factory=list)
    worker: Worker | None = None

    def submit(self, task_id: str) -> None:
        """Accept a task and put it in line, as the intake does."""
        now_ms = CLOCK.now_ms()
        self.ledger.accept(NewTask(task_id, "text", MAC, "local", "0" * 64, {"text": "x"}, 1, None, now_ms))
        self.queue.enqueue(Task(task_id, "text", MAC, now_ms))

    def has_ended(self, *task_ids: str) -> bool:
        """Say whether all of them have, and do meanwhile what the scheduler does for retries."""
        self.queue.promote()
        rows = [self.ledger.get(task_id) for task_id in task_ids]
        return all(row and row.has_ended for row in rows)

    def start(self, threads: int = 2) -> None:
        self.worker = Worker(self.broker, queues={"text"}, worker_threads=threads, worker_timeout=50)
        self.worker.start()

    def stop(self) -> None:
        if self.worker:
            self.worker.stop()
            self.worker = None

    def work_until_told(self) -> threading.Event:
        """Let each task run until the event is set, 30 s at most."""
        go_on = threading.Event()
        self.work = lambda task_id, token, attempt: go_on.wait(30) and None
        return go_on

    def do_each(self, attempts: Sequence[Attempt]) -> None:
        self.slots.append([attempt.claim.task_id for attempt in attempts])
        for attempt in attempts:
            attempt.do(self.do, attempt.claim.task_id, attempt.claim.token, attempt.number)

    def do(self, task_id: str, token: int, attempt: int) -> None:
        """What the product's actors do around their work: begin in the ledger, and finish there."""
        self.calls.append(task_id)
        self.ledger.start(task_id, token, attempt)
        self.work(task_id, token, attempt)
        self.ledger.finish(task_id, token, Finished(None, DetectionRecord("x", "pass", []), [], 1))


def open_shop(valkey: redis.Redis, valkey_url: str, database: models.base.Database) -> Shop:
    """Build a worker with a broker of its own; it claims nothing before it is started."""
    ledger = Ledger(database, CLOCK)
    roster = Roster(valkey, Keys(RULES.prefix), CLOCK)
    host, counters = Host(), Counters(valkey, Keys(RULES.prefix), is_timed=False)
    broker = FairBroker(
        FairQueue(valkey, RULES),
        poll_s=0.2,
        middleware=[
            Backpressure(host.sampler(), host.renew),
            Presence(
                WorkerRegistry(roster, CLOCK, ttl_ms=60_000),
                engine_slots=1,
                engine=None,
                heartbeat_s=20,
                figures=HostFigures,
                word_faults=lambda: (WORD_FAULT,),
                meet=lambda pids: None,
            ),
            LeaseRenewal(FairQueue(redis.Redis.from_url(valkey_url), RULES), renew_s=0.5),
            Counting(counters),
            Outcome(ledger, CLOCK, RetryRules(max_attempts=4, max_losses=3, base_ms=1, max_ms=1)),
            Measure(CLOCK),
        ],
    )
    shop = Shop(FairQueue(valkey, RULES), Inspector(valkey, RULES), roster, ledger, broker, host, counters)
    dramatiq.actor(shop.do_each, broker=broker, actor_name="execute_text", queue_name="text")
    return shop


@pytest.fixture
def shop(valkey: redis.Redis, valkey_url: str, database: models.base.Database) -> Iterator[Shop]:
    shop = open_shop(valkey, valkey_url, database)
    yield shop
    shop.stop()


@pytest.fixture
def second_shop(valkey: redis.Redis, valkey_url: str, database: models.base.Database) -> Iterator[Shop]:
    """Another worker on the same queue and ledger."""
    shop = open_shop(valkey, valkey_url, database)
    yield shop
    shop.stop()
