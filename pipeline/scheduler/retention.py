"""Duty: rows that are old enough go, a bounded number each round."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from models.retention import Retention
from pipeline.clock import Clock
from pipeline.settings import Settings

log = logging.getLogger(__name__)

DAY_MS = 86_400_000
#: Of each kind in one round; with a round a minute 14 million rows go in a day.
_BATCHES_A_ROUND = 20


@dataclass(frozen=True, slots=True)
class Ages:
    """How old each kind may become, days; 0: it is kept for ever."""

    results: int
    reports: int
    dead_letters: int

    @classmethod
    def of(cls, settings: Settings) -> "Ages":
        return cls(
            settings.retention_results_days, settings.retention_reports_days, settings.retention_dead_letters_days
        )


def retain(retention: Retention, clock: Clock, ages: Ages) -> None:
    """Delete what has passed its age."""
    # Letters first: a task stays for as long as it has one.
    _delete("dead letters", retention.delete_letters, clock, ages.dead_letters)
    _delete("tasks", retention.delete_tasks, clock, ages.results)
    _delete("deliveries", retention.delete_deliveries, clock, ages.results)
    _delete("reports", retention.delete_reports, clock, ages.reports)


def _delete(kind: str, delete: Callable[[int], int], clock: Clock, age_days: int) -> None:
    if age_days == 0:
        return
    before_ms = clock.now_ms() - age_days * DAY_MS
    deleted = 0
    for _ in range(_BATCHES_A_ROUND):
        batch = delete(before_ms)
        deleted += batch
        if not batch:
            break
    if deleted:
        log.info("deleted by age", extra={"what": kind, "count": deleted, "older_than_days": age_days})
