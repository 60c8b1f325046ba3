"""A real worker with the broker and the middleware of the product; only its work is made up."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import dramatiq

import models.base
from models.ledger import Ledger
from pipeline.attempts import Attempt
from pipeline.broker import ACTOR_OF, FairBroker
from pipeline.clock import SystemClock
from pipeline.middleware import LeaseRenewal, Measure, Outcome, Presence, RetryRules
from pipeline.queue import FairQueue, Lane, Roster, Rules
from pipeline.queue.connection import connect
from pipeline.queue.keys import Keys
from pipeline.workers.registry import WorkerRegistry
from pipeline.workers.sampler import HostFigures

#: Longest wait for a wake-up, seconds: the product's default, like the next two.
_POLL_S = 0.5
_HEARTBEAT_S, _TTL_MS = 15, 60_000


@dataclass(frozen=True, slots=True)
class Site:
    """Where a worker works.

    Args:
        url: of the Valkey.
        database_url: of a migrated database.
    """

    url: str
    database_url: str
    rules: Rules
    renew_s: float

    def ledger(self) -> Ledger:
        """Bind the database to this process; return the ledger in it."""
        database = models.base.connect(self.database_url)
        models.base.bind(database)
        return Ledger(database, SystemClock())


@contextmanager
def working(site: Site, work: Callable[[str], None], *, threads: int, lane: Lane = "text") -> Iterator[None]:
    """Let a worker of so many threads do `work(task_id)` for each task of a lane until the block ends."""
    clock = SystemClock()
    with ExitStack() as stack:
        consuming, renewing, registering = (
            stack.enter_context(connect(site.url, patience_s=patience_s, retries=0))
            for patience_s in (_POLL_S + 2, 2, 2)
        )
        registry = WorkerRegistry(Roster(registering, Keys(site.rules.prefix), clock), clock, ttl_ms=_TTL_MS)
        broker = FairBroker(
            FairQueue(consuming, site.rules),
            poll_s=_POLL_S,
            middleware=[
                Presence(
                    registry,
                    engine_slots=threads,
                    engine=None,
                    heartbeat_s=_HEARTBEAT_S,
                    figures=HostFigures,
                    word_faults=tuple,
                    meet=lambda _: None,
                ),
                LeaseRenewal(FairQueue(renewing, site.rules), renew_s=site.renew_s),
                Outcome(site.ledger(), clock, RetryRules(max_attempts=1, max_losses=3, base_ms=1, max_ms=1)),
                Measure(clock),
            ],
        )

        @dramatiq.actor(broker=broker, queue_name=lane, actor_name=ACTOR_OF[lane])
        def execute(attempts: Sequence[Attempt]) -> None:
            for attempt in attempts:
                attempt.do(work, attempt.claim.task_id)

        worker = dramatiq.Worker(broker, queues={lane}, worker_threads=threads, worker_timeout=100)
        worker.start()
        stack.callback(worker.stop)
        yield
