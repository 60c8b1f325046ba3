"""Clocks that differ: of this host, of the queue's server, of the database's, and of the hosts of workers."""

from models.base import connect
from models.health import server_now_ms
from models.migrate import pending
from pipeline.cli.checks.finding import Check, fine, wrong
from pipeline.cli.wiring import inspector_of, roster_of
from pipeline.clock import SystemClock
from pipeline.queue import WorkerView
from pipeline.settings import Settings

#: How far clocks may differ, milliseconds: far below the life of a registry entry (60 s) and of a signature (300 s).
_SKEW_MAX_MS = 5_000


def look_at_clocks(settings: Settings) -> list[Check]:
    inspector, clock = inspector_of(settings), SystemClock()
    inspector.ping()  # what connecting takes would count as difference
    before_ms = clock.now_ms()
    queue_ms = inspector.now_ms()
    checks = [_compared("clock of the queue's server", queue_ms, before_ms, clock.now_ms())]
    database = connect(settings.effective_database_url)
    if not pending(database):
        before_ms = clock.now_ms()
        database_ms = server_now_ms(database)
        if database_ms is not None:
            checks.append(_compared("clock of the database's server", database_ms, before_ms, clock.now_ms()))
    views = [WorkerView.of(entry, now_ms=0) for entry in roster_of(settings).workers()]
    ttl_ms = settings.worker_ttl_seconds * 1000
    return checks + [check for view in views if (check := _of_worker(view, inspector.now_ms(), ttl_ms))]


def _compared(name: str, there_ms: int, before_ms: int, after_ms: int) -> Check:
    """A server's clock beside ours, which was read before and after it was asked."""
    ahead_ms = there_ms - (before_ms + after_ms) / 2
    unsure_ms = (after_ms - before_ms) / 2
    found = f"{abs(ahead_ms) / 1000:.1f} s {'ahead of' if ahead_ms > 0 else 'behind'} that of this host"
    if abs(ahead_ms) - unsure_ms <= _SKEW_MAX_MS:
        return fine(name, found)
    return wrong(name, found, _cure("both hosts"))


def _of_worker(worker: WorkerView, now_ms: int, ttl_ms: int) -> Check | None:
    """Entries tell when they were written by the clock of their host, and live as long as the server says."""
    if worker.last_heartbeat is None:
        return None
    ahead_ms = worker.last_heartbeat - now_ms
    if -ttl_ms - _SKEW_MAX_MS <= ahead_ms <= _SKEW_MAX_MS:
        return None
    apart_s = abs(ahead_ms) / 1000
    found = f"{apart_s:.0f} s {'ahead of' if ahead_ms > 0 else 'behind'} that of the queue's server"
    return wrong(f"clock of worker {worker.hostname}:{worker.pid}", found, _cure(worker.hostname))


def _cure(where: str) -> str:
    return f"let NTP set the clock of {where} (`timedatectl`, `chronyc tracking`)"
