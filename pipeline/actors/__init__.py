"""What `dramatiq pipeline.actors` loads: the wiring of a worker process, and its actors.

Everything here is built after Dramatiq's fork and connects on first use.
"""

import dramatiq
from dramatiq import Middleware

import models.base
from models.announcing import Announcing
from models.delivery_line import DeliveryLine
from models.ledger import Ledger
from models.migrate import pending
from models.readings import Readings
from models.word_shelf import WordShelf
from pipeline import metrics
from pipeline.actors.notify import NotifyWork, declare_execute_notify
from pipeline.actors.ocr import OcrWork, declare_execute_ocr
from pipeline.actors.text import TextWork, declare_execute_text
from pipeline.broker import FairBroker, lane_named
from pipeline.clock import Clock, SystemClock
from pipeline.errors import ConfigurationError
from pipeline.lists.following import FollowedLists, follow_lists
from pipeline.log import configure_logging
from pipeline.middleware import (
    AttemptTraces,
    Backpressure,
    Capability,
    Counting,
    ForcedStop,
    LeaseRenewal,
    Measure,
    Outcome,
    Presence,
    RetryRules,
    Survivor,
    WarmUp,
)
from pipeline.ocr.engines import OcrEngines, open_engines
from pipeline.queue import CPU_ONLY, Counters, open_consumer_queue, open_counters, open_queue, open_roster
from pipeline.settings import Settings, load_settings_or_exit
from pipeline.storage import open_store
from pipeline.tracing import open_traces
from pipeline.webhooks.sending import Sender
from pipeline.workers.host import open_sampler
from pipeline.workers.own import OwnProcesses
from pipeline.workers.registry import WorkerRegistry


def build_broker(settings: Settings, engines: OcrEngines) -> FairBroker:
    """Wire one worker process: its broker with the middleware and the actors."""
    clock = SystemClock()
    database = models.base.connect(settings.effective_database_url)
    models.base.bind(database)
    ledger = Ledger(database, clock, Announcing.of(settings))
    store = open_store(settings.effective_storage_url)
    lists = follow_lists(WordShelf(database, clock), store, settings)
    counters = open_counters(settings)
    traces = open_traces(settings.traces_endpoint, "worker")
    engines.watch(lambda: None if engines.is_on_gpu else counters.count(metrics.GPU_FALLBACKS))

    def prepare(queue_name: str) -> None:
        if missing := pending(database):
            raise ConfigurationError(f"the database lacks {len(missing)} migrations; run `fairlane migrate`")
        lists.open()
        if lane_named(queue_name) == "ocr":
            engines.warm_up(may_use_gpu=queue_name not in CPU_ONLY)

    def close() -> None:
        lists.close()
        engines.close()

    broker = FairBroker(
        open_consumer_queue(settings),
        poll_s=settings.poll_interval_seconds,
        middleware=[
            Survivor(open_queue(settings), settings.data_dir / "held"),
            WarmUp(prepare, close),
            *host_middleware(settings, engines, lists, clock),
            LeaseRenewal(open_queue(settings), renew_s=settings.lease_renew_seconds),
            *([AttemptTraces(traces, clock, lease_ms=settings.lease_seconds * 1000)] if traces else []),
            ForcedStop(open_queue(settings), ledger),
            Counting(counters),
            Outcome(ledger, clock, RetryRules.of(settings)),
            Measure(clock),
        ],
    )
    reuse_ms = settings.ocr_reuse_seconds * 1000
    readings = Readings(database, clock, reuse_ms) if reuse_ms else None
    work = OcrWork(ledger, store, engines, lists, clock, settings.image_delete_after_end, readings)
    declare_execute_ocr(broker, work)
    declare_execute_text(broker, TextWork(ledger, lists, clock))
    declare_execute_notify(broker, notify_work(settings, DeliveryLine(database, clock), counters, clock))
    return broker


def notify_work(settings: Settings, line: DeliveryLine, counters: Counters, clock: Clock) -> NotifyWork:
    """The work of the lane `notify`."""
    sender = Sender(settings.receiver_rules, clock, timeout_s=settings.webhook_timeout_seconds)
    return NotifyWork(line, sender, settings.webhook_keys, counters, clock)


def host_middleware(settings: Settings, engines: OcrEngines, lists: FollowedLists, clock: Clock) -> list[Middleware]:
    """What looks at this host: whether it is too busy, what it can do, and who else should know."""
    roster = open_roster(settings)
    own = OwnProcesses(settings.supervisor_pid)
    sampler = open_sampler(settings, clock, own, uses_gpu=lambda: engines.is_on_gpu)
    return [
        Backpressure(sampler, engines.renew_idle),
        Capability(roster, lambda: engines.is_on_gpu, is_gpu_required=settings.ocr_requires_gpu),
        Presence(
            WorkerRegistry(roster, clock, ttl_ms=settings.worker_ttl_seconds * 1000),
            engine_slots=settings.ocr_slots,
            engine=engines,
            heartbeat_s=settings.worker_heartbeat_seconds,
            figures=lambda: sampler.figures,
            word_faults=lambda: lists.faults,
            meet=own.count_siblings,
        ),
    ]


_settings = load_settings_or_exit()
configure_logging(_settings.log_level, _settings.log_style)
broker = build_broker(_settings, open_engines(_settings, SystemClock()))
dramatiq.set_broker(broker)
