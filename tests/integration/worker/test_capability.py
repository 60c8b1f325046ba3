"""Workers that know what they can do: images wait for a GPU, or for the scheduler's word."""

from collections.abc import Callable, Iterator, Sequence

import dramatiq
import pytest
import redis
from dramatiq import Worker

import models.base
from models.ledger import DetectionRecord, Finished, Ledger, NewTask
from pipeline.attempts import Attempt
from pipeline.broker import FairBroker
from pipeline.clock import SystemClock
from pipeline.middleware import Capability, LeaseRenewal, Measure, Outcome, Presence, RetryRules
from pipeline.queue import FairQueue, Inspector, Needs, Roster, Rules, Task
from pipeline.queue.keys import Keys
from pipeline.scheduler.no_worker import NoWorker
from pipeline.workers.registry import WorkerRegistry
from pipeline.workers.sampler import HostFigures
from tests.support.processes import wait_until

CLOCK = SystemClock()
RULES = Rules(lease_ms=3_000)
NEEDS = Needs(gpu=frozenset({"ocr"}))


class Pretended:
    """An engine that computes on the GPU of its worker for as long as that has one."""

    def __init__(self, gpus: dict[str, bool], worker: str) -> None:
        self._gpus, self._worker = gpus, worker

    @property
    def is_on_gpu(self) -> bool:
        return self._gpus.get(self._worker, False)

    @property
    def name(self) -> str:
        return "paddle" if self.is_on_gpu else "rapid"

    def watch(self, tell: Callable[[], None]) -> None:
        """Nobody is told: the next heartbeat says it."""


class Studio:
    """Real workers of the lane `ocr` whose GPUs are pretended, and a scheduler's duty without a grace."""

    def __init__(self, client: redis.Redis, url: str, database: models.base.Database) -> None:
        self.client, self.url = client, url
        self.ledger = Ledger(database, CLOCK)
        self.queue, self.inspector = FairQueue(client, RULES), Inspector(client, RULES)
        self.roster = Roster(client, Keys(RULES.prefix), CLOCK, needs=NEEDS)
        self.gpus = {"a": True}
        self.calls: list[tuple[str, str]] = []
        self.workers: list[Worker] = []

    def accept(self, task_id: str) -> None:
        now_ms = CLOCK.now_ms()
        self.ledger.accept(NewTask(task_id, "ocr", "aabbccddeeff", "local", "0" * 64, {}, 1, None, now_ms))
        self.queue.enqueue(Task(task_id, "ocr", "aabbccddeeff", now_ms))

    def start(self, name: str, queue_name: str = "ocr", *, is_gpu_required: bool = True) -> FairBroker:
        """Start a worker, whose GPU is `self.gpus[name]`."""
        broker = FairBroker(
            FairQueue(redis.Redis.from_url(self.url), RULES),
            poll_s=0.1,
            middleware=[
                Capability(self.roster, lambda: self.gpus.get(name, False), is_gpu_required=is_gpu_required),
                Presence(
                    WorkerRegistry(self.roster, CLOCK, ttl_ms=5_000),
                    engine_slots=1,
                    engine=Pretended(self.gpus, name),
                    heartbeat_s=1,
                    figures=HostFigures,
                    word_faults=tuple,
                    meet=lambda _: None,
                ),
                LeaseRenewal(FairQueue(redis.Redis.from_url(self.url), RULES), renew_s=0.5),
                Outcome(self.ledger, CLOCK, RetryRules(max_attempts=2, max_losses=3, base_ms=1, max_ms=1)),
                Measure(CLOCK),
            ],
        )

        def read(task_id: str, token: int, attempt: int) -> None:
            self.calls.append((name, task_id))
            self.ledger.start(task_id, token, attempt)
            self.ledger.finish(task_id, token, Finished(None, DetectionRecord("x", "pass", []), [], 1))

        def read_each(attempts: Sequence[Attempt]) -> None:
            for attempt in attempts:
                attempt.do(read, attempt.claim.task_id, attempt.claim.token, attempt.number)

        dramatiq.actor(read_each, broker=broker, actor_name="execute_ocr", queue_name="ocr")
        self.workers.append(Worker(broker, queues={queue_name}, worker_threads=2, worker_timeout=50))
        self.workers[-1].start()
        return broker

    def judge(self, strategy: str) -> None:
        NoWorker(self.queue, self.inspector, self.roster, self.ledger, strategy=strategy, grace_ms=0).run()

    def is_done(self, task_id: str) -> Callable[[], bool]:
        return lambda: (self.inspector.endings([task_id])[0] or ("",))[0] == "done"


@pytest.fixture
def studio(valkey: redis.Redis, valkey_url: str, database: models.base.Database) -> Iterator[Studio]:
    studio = Studio(valkey, valkey_url, database)
    yield studio
    for worker in studio.workers:
        worker.stop()


@pytest.mark.feature("S5")
def test_where_a_gpu_is_required_only_the_worker_that_has_one_claims(studio: Studio) -> None:
    broker = studio.start("without")
    assert broker.slots.holds("ocr") == ["needs a GPU"]
    studio.accept("t")
    studio.start("a")

    wait_until(studio.is_done("t"))

    assert studio.calls == [("a", "t")]


@pytest.mark.feature("S5")
def test_a_worker_without_a_gpu_follows_the_downgrade_and_its_end_within_about_a_second(studio: Studio) -> None:
    broker = studio.start("without")
    studio.accept("t")
    studio.judge("cpu")
    began_ms = CLOCK.monotonic_ms()
    wait_until(studio.is_done("t"))
    assert CLOCK.monotonic_ms() - began_ms < 2_000

    studio.roster.enter("gpu:1", {"hostname": "gpu", "pid": "1", "queues": "ocr", "gpu_available": "1"}, ttl_ms=60_000)
    studio.accept("u")
    wait_until(studio.is_done("u"))  # until the scheduler has judged, the downgrade is in force
    studio.judge("cpu")
    wait_until(lambda: broker.slots.holds("ocr"), limit_s=2)
    studio.accept("v")
    assert not broker.slots.room("ocr", wait_s=0.3)
    assert all(books.balances for books in studio.inspector.audit())


@pytest.mark.feature("S5")
def test_a_worker_that_loses_its_gpu_claims_no_more_and_claims_again_once_it_is_back(studio: Studio) -> None:
    broker = studio.start("a")
    studio.gpus["a"] = False
    wait_until(lambda: broker.slots.holds("ocr"))
    studio.accept("t")
    studio.gpus["a"] = True

    wait_until(studio.is_done("t"))


@pytest.mark.feature("S5")
def test_a_worker_of_the_downgrade_queue_claims_only_while_a_downgrade_is_in_force(studio: Studio) -> None:
    broker = studio.start("a", "ocr_cpu")  # its host has a GPU, but it is not to use it
    assert broker.slots.holds("ocr") == ["needs a GPU"]
    assert studio.roster.workers()[0]["queues"] == "ocr_cpu"
    studio.accept("t")
    studio.judge("cpu")

    wait_until(studio.is_done("t"))


@pytest.mark.feature("S5")
def test_a_worker_of_the_downgrade_queue_claims_always_where_no_gpu_is_required(studio: Studio) -> None:
    studio.start("b", "ocr_cpu", is_gpu_required=False)
    studio.accept("t")

    wait_until(studio.is_done("t"))
