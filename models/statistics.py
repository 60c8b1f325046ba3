"""What was done, per day, device, lane and outcome, and how long it waited; counted once for each end of a task."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple, Self, cast

from peewee import BigIntegerField, CharField, CompositeKey, Expression, IntegerField, fn

from models.adding import add_up
from models.base import BaseModel, Database, connection, write
from models.results import Detection
from models.scope import EVERYTHING, Scope
from models.tasks import Task
from models.totals import EndedTask, add_tasks
from pipeline.settings import Settings

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1)
#: Tasks counted in one transaction.
_BATCH = 500
_IS_DUE = ~Task.is_counted & Task.ended_ms.is_null(is_null=False)

Dimension = Literal["day", "site", "mac", "lane", "outcome"]
_COUNT_KEY: tuple[Dimension, ...] = ("day", "site", "mac", "lane", "outcome")
_WAIT_KEY = ("day", "site", "lane", "bucket")


class DailyCount(BaseModel):
    """Tasks of one device that ended in one way on one day; days since 1970-01-01, by the clock of the operator."""

    day = IntegerField()
    site = CharField(64)
    mac = CharField(12)
    lane = CharField(16)
    outcome = CharField(16)
    tasks = BigIntegerField()
    with_hits = BigIntegerField()
    hits = BigIntegerField()

    class Meta:
        primary_key = CompositeKey(*_COUNT_KEY)


class DailyWait(BaseModel):
    """Tasks whose last attempt waited about as long, from acceptance to start; see `bucket_of`."""

    day = IntegerField()
    site = CharField(64)
    lane = CharField(16)
    bucket = IntegerField()
    tasks = BigIntegerField()

    class Meta:
        primary_key = CompositeKey(*_WAIT_KEY)


@dataclass(frozen=True, slots=True)
class Period:
    """Which days are asked for: days since 1970-01-01, both included."""

    first_day: int
    last_day: int

    def holds(self, table: type[DailyCount] | type[DailyWait]) -> Expression:
        return table.day.between(self.first_day, self.last_day)


class Count(NamedTuple):
    """Sums over what was not asked for by name.

    Args:
        of: the value of each dimension that was.
        with_hits: tasks in which something was found; `hits` is how much.
    """

    of: dict[str, Any]
    tasks: int
    with_hits: int
    hits: int


class Waits(NamedTuple):
    """How long the tasks of a day and lane waited: half, 95 and 99 % of them no longer than this, ms, to a fifth."""

    day: int
    lane: str
    tasks: int
    p50_ms: int
    p95_ms: int
    p99_ms: int


class Statistics:
    """Counts what has ended, and says what was counted. Every method raises `DatabaseUnavailable`.

    Args:
        utc_offset_ms: of the clock by which days begin.
    """

    def __init__(self, database: Database, utc_offset_ms: int) -> None:
        self._database = database
        self._utc_offset_ms = utc_offset_ms

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self:
        """The statistics of a database, by the days of the operator."""
        return cls(database, settings.statistics_utc_offset_minutes * 60_000)

    def day_of(self, at_ms: int) -> int:
        """The day of a moment (epoch ms), in days since 1970-01-01."""
        return (at_ms + self._utc_offset_ms) // _DAY_MS

    def count(self) -> int:
        """Count some tasks that have ended and are not counted; return how many, 0 when there are none.

        Whoever counts a task marks it in the same transaction, so that of several schedulers one does.
        """
        with write(self._database):
            ended = _mark_counted(Task.select(Task.task_id).where(_IS_DUE).order_by(Task.ended_ms).limit(_BATCH))
            self._add(ended)
            return len(ended)

    def count_before_replay(self, task_id: str) -> None:
        """Count an end that is about to be forgotten, unless it is counted; call it inside a transaction."""
        self._add(_mark_counted([task_id]))

    def _add(self, ended: Sequence[EndedTask]) -> None:
        if ended:
            hits = _hits_of(ended)
            add_up(DailyCount, _COUNT_KEY, self._counts_of(ended, hits), ("tasks", "with_hits", "hits"))
            add_up(DailyWait, _WAIT_KEY, self._waits_of(ended), ("tasks",))
            add_tasks(ended, hits)

    def counts(self, period: Period, by: Sequence[Dimension], scope: Scope = EVERYTHING, *, limit: int) -> list[Count]:
        """Sums by these dimensions, the busiest first where devices are among them, else in their order.

        Args:
            scope: whose devices.
            limit: of the sums, at most.
        """
        columns = [getattr(DailyCount, name) for name in by]
        sums = [fn.SUM(column) for column in (DailyCount.tasks, DailyCount.with_hits, DailyCount.hits)]
        query = DailyCount.select(*columns, *sums).where(period.holds(DailyCount), *scope.conditions(DailyCount))
        if columns:
            order = [fn.SUM(DailyCount.tasks).desc(), *columns] if "mac" in by else columns
            query = query.group_by(*columns).order_by(*order).limit(limit)
        with connection(self._database):
            rows = cast("Iterable[tuple[Any, ...]]", query.tuples())
            return [
                Count(dict(zip(by, row, strict=False)), *(int(value or 0) for value in row[len(by) :])) for row in rows
            ]

    def waits(self, period: Period, site: str | None = None) -> list[Waits]:
        """Percentiles of waits by day and lane.

        Args:
            site: None for all.
        """
        of_site = [] if site is None else [DailyWait.site == site]
        query = (
            DailyWait.select(DailyWait.day, DailyWait.lane, DailyWait.bucket, fn.SUM(DailyWait.tasks))
            .where(period.holds(DailyWait), *of_site)
            .group_by(DailyWait.day, DailyWait.lane, DailyWait.bucket)
            .order_by(DailyWait.day, DailyWait.lane, DailyWait.bucket)
        )
        found: dict[tuple[int, str], list[tuple[int, int]]] = {}
        with connection(self._database):
            for day, lane, bucket, tasks in cast("Iterable[tuple[int, str, int, int]]", query.tuples()):
                found.setdefault((day, lane), []).append((bucket, int(tasks)))
        return [
            Waits(*key, sum(tasks for _, tasks in buckets), *(_quantile(buckets, q) for q in (0.5, 0.95, 0.99)))
            for key, buckets in found.items()
        ]

    def _counts_of(self, ended: Sequence[EndedTask], hits: Mapping[str, int]) -> dict[tuple[Any, ...], tuple[int, ...]]:
        tasks, with_hits, all_hits = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for task in ended:
            key = (self.day_of(task.ended_ms), task.site, task.mac, task.lane, task.state)
            tasks[key] += 1
            with_hits[key] += hits.get(task.task_id, 0) > 0
            all_hits[key] += hits.get(task.task_id, 0)
        return {key: (count, with_hits[key], all_hits[key]) for key, count in tasks.items()}

    def _waits_of(self, ended: Sequence[EndedTask]) -> dict[tuple[Any, ...], tuple[int, ...]]:
        counts = Counter(
            (self.day_of(task.ended_ms), task.site, task.lane, bucket_of(task.started_ms - task.created_ms))
            for task in ended
            if task.started_ms is not None
        )
        return {key: (count,) for key, count in counts.items()}


def number_of(day: date) -> int:
    """The day of a calendar, in days since 1970-01-01."""
    return (day - _EPOCH).days


def spelled(day: int) -> str:
    """A day (days since 1970-01-01) as people write it: 2026-01-31."""
    return (_EPOCH + timedelta(days=day)).isoformat()


def bucket_of(wait_ms: int) -> int:
    """The bucket of a wait: each holds those up to a fifth longer than the one before, and 0 those below 1 ms."""
    return 0 if wait_ms < 1 else 1 + math.floor(4 * math.log2(wait_ms))


def _upper_ms(bucket: int) -> int:
    return 0 if bucket == 0 else math.ceil(2 ** (bucket / 4))


def _quantile(buckets: Sequence[tuple[int, int]], share: float) -> int:
    wanted = share * sum(tasks for _, tasks in buckets)
    seen = 0
    for bucket, tasks in buckets:
        seen += tasks
        if seen >= wanted:
            return _upper_ms(bucket)
    return _upper_ms(buckets[-1][0])


def _hits_of(ended: Sequence[EndedTask]) -> dict[str, int]:
    found = Detection.select(Detection.task, Detection.hit_count).where(
        Detection.task.in_([task.task_id for task in ended])
    )
    return dict(cast("Iterable[tuple[str, int]]", found.tuples()))


def _mark_counted(task_ids: Any) -> list[EndedTask]:
    """Mark those of the tasks that have ended and are not counted; `task_ids` may be a query."""
    # The condition again: on PostgreSQL another scheduler may have counted them while this one waited for their rows.
    columns = [getattr(Task, name) for name in EndedTask._fields]
    marked = Task.update(is_counted=True).where(Task.task_id.in_(task_ids), _IS_DUE).returning(*columns).execute()
    return [EndedTask(*(getattr(task, name) for name in EndedTask._fields)) for task in marked]
