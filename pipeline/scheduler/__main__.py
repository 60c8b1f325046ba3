"""`python -m pipeline.scheduler`: the wiring; runs until SIGTERM."""

import atexit
import logging
import signal
from functools import partial

import models.base
from models.announcing import Announcing
from models.delivery_line import DeliveryLine
from models.devices import Devices
from models.endings import endings_of
from models.ledger import Ledger
from models.replays import Replays
from models.retention import Retention
from models.statistics import Statistics
from models.totals import Totals
from pipeline.clock import Clock, SystemClock
from pipeline.log import configure_logging
from pipeline.queue import (
    open_consumer_queue,
    open_counters,
    open_history,
    open_inspector,
    open_pulse,
    open_queue,
    open_roster,
    open_standstill,
)
from pipeline.scheduler.announce import Announcer
from pipeline.scheduler.bell import Bell
from pipeline.scheduler.expire import expire
from pipeline.scheduler.history import note_history
from pipeline.scheduler.images import ImageAges, Images
from pipeline.scheduler.loop import Duty, Loop
from pipeline.scheduler.no_worker import NoWorker
from pipeline.scheduler.promote import promote
from pipeline.scheduler.reap import reap
from pipeline.scheduler.reconcile import rebuild_after_loss, reconcile
from pipeline.scheduler.replay import Pace, Replayer
from pipeline.scheduler.resume import resume
from pipeline.scheduler.retention import Ages, retain
from pipeline.scheduler.scale import ScaleRules
from pipeline.scheduler.sweep import Sweep
from pipeline.scheduler.tally import tally
from pipeline.scheduler.watermark import publish_watermark
from pipeline.settings import Settings, load_settings_or_exit
from pipeline.storage import open_store

log = logging.getLogger(__name__)

#: Between two looks at who is alive, ms: far below the grace, and a downgrade must end soon after a GPU is back.
_NO_WORKER_PERIOD_MS = 1_000
#: Between two looks whether anything is claimed, ms: whoever asks after half a minute must find it noted.
_STANDSTILL_PERIOD_MS = 5_000
_TALLY_PERIOD_MS = 5_000
_RETENTION_PERIOD_MS = 60_000


def build_loop(settings: Settings, database: models.base.Database) -> Loop:
    """Wire the duties, in the order of the way of a task: first what brings work back."""
    clock = SystemClock()
    ledger, line = Ledger(database, clock, Announcing.of(settings)), DeliveryLine(database, clock)
    queue, inspector, roster = open_queue(settings), open_inspector(settings), open_roster(settings)
    counters = open_counters(settings)
    atexit.register(counters.close)
    watermark_ms, reconcile_ms = settings.watermark_publish_interval * 1000, settings.reconcile_interval_seconds * 1000
    no_worker = NoWorker(
        queue,
        inspector,
        roster,
        ledger,
        strategy=settings.no_worker_strategy,
        grace_ms=2 * settings.worker_heartbeat_seconds * 1000,
    )
    watermark = partial(publish_watermark, inspector, roster, interval_ms=watermark_ms, scaling=ScaleRules.of(settings))
    pace = Pace(settings.replay_per_second, settings.scheduler_tick_seconds)
    announcer, tick_ms = Announcer(queue, inspector, line), round(settings.scheduler_tick_seconds * 1000)
    sweep = Sweep(queue, inspector, lambda names: {**endings_of(database, names), **line.standing_of(names)})
    replays = Replays(database, clock, Statistics.of(settings, database))
    replayer = Replayer(queue, inspector, ledger, replays, clock, pace)
    duties = [
        Duty("rebuild", 0, partial(rebuild_after_loss, queue, inspector, roster, ledger, Devices(database))),
        # Before resume: a device that comes back finds its deferred task at the head of its line again.
        Duty("promote", 0, partial(promote, queue)),
        Duty("resume", 0, partial(resume, queue)),
        Duty("reap", 0, partial(reap, queue, ledger, counters)),
        Duty("expire", 0, partial(expire, queue, ledger)),
        Duty("replay", tick_ms, replayer.run),
        Duty("announce", tick_ms, announcer.put_in_line),
        Duty("no_worker", _NO_WORKER_PERIOD_MS, no_worker.run),
        Duty("standstill", _STANDSTILL_PERIOD_MS, open_standstill(settings).look),
        Duty("watermark", watermark_ms, watermark),
        Duty("reconcile", reconcile_ms, partial(reconcile, queue, inspector, ledger, counters)),
        Duty("look_after_announcements", reconcile_ms, announcer.look_after),
        Duty("sweep", reconcile_ms, sweep.run),
        *_keeping(settings, database, clock),
    ]
    return Loop(duties, clock, tick_s=settings.scheduler_tick_seconds, next_due_ms=inspector.next_due_ms)


def _keeping(settings: Settings, database: models.base.Database, clock: Clock) -> list[Duty]:
    """The duties that no task waits for: what is counted, and what goes."""
    statistics, totals = Statistics.of(settings, database), Totals(database)
    watermark_ms, inspector = settings.watermark_publish_interval * 1000, open_inspector(settings)
    sample = partial(note_history, open_history(settings), inspector, open_pulse(settings), totals)
    retention = Retention(database)
    store = open_store(settings.effective_storage_url)
    images = Images(store, retention.endings, clock, ImageAges.of(settings))
    return [
        Duty("history", watermark_ms, sample),
        Duty("tally", _TALLY_PERIOD_MS, partial(tally, statistics, totals)),
        Duty("retention", _RETENTION_PERIOD_MS, partial(retain, retention, clock, Ages.of(settings))),
        Duty("images", _RETENTION_PERIOD_MS, images.run),
    ]


def main() -> None:
    """Keep house until SIGTERM or SIGINT; the round under way is finished first."""
    settings = load_settings_or_exit()
    configure_logging(settings.log_level, settings.log_style)
    models.base.bind(database := models.base.connect(settings.effective_database_url))
    loop = build_loop(settings, database)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.stop())
    Bell(open_consumer_queue(settings), loop.wake, listen_s=settings.poll_interval_seconds).start()
    log.info("the scheduler keeps house")
    loop.run()
    log.info("the scheduler has stopped")


if __name__ == "__main__":
    main()
