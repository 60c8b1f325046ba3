"""Duty: keep a sample of each lane for the picture of the last hour."""

import logging

from models.totals import Totals
from pipeline.errors import DatabaseUnavailable
from pipeline.queue import History, Inspector, Pulse, Sample

log = logging.getLogger(__name__)


def note_history(history: History, inspector: Inspector, pulse: Pulse, totals: Totals) -> None:
    """Add one sample of each lane, unless another scheduler has; without the waits while the database is silent."""
    waits, pulses, now_ms = _waits(totals), pulse.lanes(), inspector.now_ms()
    for status in inspector.lanes():
        ended = pulses[status.lane].ended
        sample = Sample(status.waiting, status.leased, status.oldest_wait_ms, ended, waits.get(status.lane, ()))
        history.sample(status.lane, sample, now_ms)


def _waits(totals: Totals) -> dict[str, tuple[int, ...]]:
    try:
        return {each.lane: each.times for each in totals.durations() if each.stage == "wait"}
    except DatabaseUnavailable as exc:
        log.warning("a sample without waits: %s", exc)
        return {}
