"""`python -m pipeline.scheduler`: the wiring; runs until SIGTERM."""

import logging
import signal
from functools import partial

import models.base
from models.ledger import Ledger
from models.replays import Replays
from pipeline.clock import SystemClock
from pipeline.log import configure_logging
from pipeline.queue import open_inspector, open_queue, open_roster
from pipeline.scheduler.expire import expire
from pipeline.scheduler.loop import Duty, Loop
from pipeline.scheduler.promote import promote
from pipeline.scheduler.reap import reap
from pipeline.scheduler.reconcile import rebuild_after_loss, reconcile
from pipeline.scheduler.replay import Pace, Replayer
from pipeline.scheduler.resume import resume
from pipeline.scheduler.watermark import publish_watermark
from pipeline.settings import Settings, load_settings_or_exit

log = logging.getLogger(__name__)

#: How often overdue leases are looked for, ms: with a lease of 30 s a killed worker's task runs again in time.
_REAP_PERIOD_MS = 1_000


def build_loop(settings: Settings) -> Loop:
    """Wire the duties, in the order of the way of a task: first what brings work back."""
    clock = SystemClock()
    models.base.bind(database := models.base.connect(settings.effective_database_url))
    ledger = Ledger(database, clock)
    queue, inspector, roster = open_queue(settings), open_inspector(settings), open_roster(settings)
    watermark_ms = settings.watermark_publish_interval * 1000
    pace = Pace(settings.replay_per_second, settings.scheduler_tick_seconds)
    replayer = Replayer(queue, inspector, ledger, Replays(database, clock), clock, pace)
    duties = [
        Duty("rebuild", 0, partial(rebuild_after_loss, queue, inspector, roster, ledger)),
        Duty("resume", 0, partial(resume, queue)),
        Duty("promote", 0, partial(promote, queue)),
        Duty("reap", _REAP_PERIOD_MS, partial(reap, queue, ledger)),
        Duty("expire", 0, partial(expire, queue, ledger)),
        Duty("replay", 0, replayer.run),
        Duty("watermark", watermark_ms, partial(publish_watermark, inspector, roster, interval_ms=watermark_ms)),
        Duty(
            "reconcile",
            settings.reconcile_interval_seconds * 1000,
            partial(reconcile, queue, inspector, ledger),
        ),
    ]
    return Loop(duties, clock, tick_s=settings.scheduler_tick_seconds)


def main() -> None:
    """Keep house until SIGTERM or SIGINT; the round under way is finished first."""
    settings = load_settings_or_exit()
    configure_logging(settings.log_level, settings.log_style)
    loop = build_loop(settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.stop())
    log.info("the scheduler keeps house")
    loop.run()
    log.info("the scheduler has stopped")


if __name__ == "__main__":
    main()
