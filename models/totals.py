"""What has ended and how long it took, added up since the beginning; some hundred rows, however many devices there are.

A task or delivery is added once for each end, in the transaction that marks it as counted, so the sums stay right
whatever is killed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from peewee import BigIntegerField, CharField, CompositeKey

from models.adding import add_up
from models.base import BaseModel, Database, connection, write
from models.tasks import TaskStep
from models.webhook_delivery import WebhookDelivery

#: Upper bounds of the buckets, ms; what took longer than the last is in a bucket of its own.
BOUNDS_MS = (
    *(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000),
    *(10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000),
)
#: Stands for no bound at all.
ENDLESS_MS = 1 << 53
#: Deliveries counted in one transaction.
_BATCH = 500
#: Under which lane the ends of deliveries stand.
_DELIVERIES = "notify"

#: wait: accepted to the start of the last attempt; run: that attempt, of tasks that were done; total: accepted to the
#: end; notify: the end of the task to the end of its announcement, if that was delivered; the others: a step.
Stage = Literal["wait", "run", "total", "fetch", "ocr", "screen", "store", "notify"]
#: Steps of which the time is told.
_STEPS: tuple[Stage, ...] = ("fetch", "ocr", "screen", "store")

_END_KEY = ("lane", "outcome")
_DURATION_KEY = ("stage", "lane", "le_ms")


class EndTotal(BaseModel):
    """Ends of one kind: of tasks by their lane, of deliveries under `notify`."""

    lane = CharField(16)
    outcome = CharField(16)
    ends = BigIntegerField()
    with_hits = BigIntegerField()
    hits = BigIntegerField()

    class Meta:
        primary_key = CompositeKey(*_END_KEY)


class DurationTotal(BaseModel):
    """What took longer than the bound before `le_ms`, and not longer than `le_ms`; see `BOUNDS_MS`."""

    stage = CharField(16)
    lane = CharField(16)
    le_ms = BigIntegerField()
    times = BigIntegerField()
    sum_ms = BigIntegerField()

    class Meta:
        primary_key = CompositeKey(*_DURATION_KEY)


class EndedTask(NamedTuple):
    """What is counted of a task."""

    task_id: str
    site: str
    mac: str
    lane: str
    state: str
    created_ms: int
    started_ms: int | None
    ended_ms: int
    run_ms: int | None


class Ends(NamedTuple):
    """How many tasks of a lane, or deliveries, ended in one way.

    Args:
        with_hits: tasks in which something was found; `hits` is how much.
    """

    lane: str
    outcome: str
    ends: int
    with_hits: int
    hits: int


class Durations(NamedTuple):
    """How long one stage took in one lane.

    Args:
        times: by bucket: for each of `BOUNDS_MS`, then what took longer than all of them.
    """

    stage: str
    lane: str
    times: tuple[int, ...]
    sum_ms: int


class Totals:
    """The sums of a database. Every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ends(self) -> list[Ends]:
        """How everything ended that is counted, by lane and outcome."""
        with connection(self._database):
            query = EndTotal.select(*(getattr(EndTotal, name) for name in Ends._fields)).order_by(EndTotal.lane)
            rows = cast("Iterable[tuple[Any, ...]]", query.tuples())
            return [Ends(lane, outcome, *map(int, sums)) for lane, outcome, *sums in rows]

    def durations(self) -> list[Durations]:
        """How long everything took that is counted, by stage and lane."""
        with connection(self._database):
            columns = [getattr(DurationTotal, name) for name in (*_DURATION_KEY, "times", "sum_ms")]
            query = DurationTotal.select(*columns).order_by(DurationTotal.stage, DurationTotal.lane)
            rows = cast("Iterable[tuple[str, str, int, int, int]]", query.tuples())
            found: dict[tuple[str, str], tuple[Counter[int], Counter[str]]] = {}
            for stage_name, lane, le_ms, times, sum_ms in rows:
                buckets, whole = found.setdefault((stage_name, lane), (Counter(), Counter()))
                buckets[_bound_of(le_ms)] += int(times)
                whole["sum_ms"] += int(sum_ms)
        bounds = (*BOUNDS_MS, ENDLESS_MS)
        return [
            Durations(*key, tuple(buckets[bound] for bound in bounds), whole["sum_ms"])
            for key, (buckets, whole) in found.items()
        ]

    def count_deliveries(self) -> int:
        """Count some deliveries that have ended and are not counted; return how many, 0 when there are none."""
        with write(self._database):
            ended = _mark_deliveries()
            kinds = Counter((_DELIVERIES, state) for state, *_ in ended)
            add_up(EndTotal, _END_KEY, {key: (count, 0, 0) for key, count in kinds.items()}, _END_SUMS)
            took = [
                ("notify", lane, ended_ms - since_ms) for state, lane, since_ms, ended_ms in ended if state == _GOOD
            ]
            _add_durations(took)
            return len(ended)


_END_SUMS = ("ends", "with_hits", "hits")
_GOOD = "delivered"


def add_tasks(ended: Sequence[EndedTask], hits: Mapping[str, int]) -> None:
    """Add tasks that have just been marked as counted, inside that transaction.

    Args:
        hits: by task id, how much was found; nothing in what is not there.
    """
    ends, with_hits, all_hits = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for task in ended:
        key = (task.lane, task.state)
        ends[key] += 1
        with_hits[key] += hits.get(task.task_id, 0) > 0
        all_hits[key] += hits.get(task.task_id, 0)
    add_up(EndTotal, _END_KEY, {key: (count, with_hits[key], all_hits[key]) for key, count in ends.items()}, _END_SUMS)
    _add_durations([*_of_tasks(ended), *_of_steps({task.task_id: task.lane for task in ended})])


def _of_tasks(ended: Iterable[EndedTask]) -> Iterable[tuple[str, str, int]]:
    for task in ended:
        yield "total", task.lane, task.ended_ms - task.created_ms
        if task.started_ms is not None:
            yield "wait", task.lane, task.started_ms - task.created_ms
        if task.run_ms is not None:
            yield "run", task.lane, task.run_ms


def _of_steps(lanes: Mapping[str, str]) -> Iterable[tuple[str, str, int]]:
    columns = (TaskStep.task, TaskStep.name, TaskStep.started_ms, TaskStep.ended_ms)
    is_timed = TaskStep.name.in_(_STEPS) & (TaskStep.state == "done")
    is_timed &= TaskStep.started_ms.is_null(is_null=False) & TaskStep.ended_ms.is_null(is_null=False)
    query = TaskStep.select(*columns).where(TaskStep.task.in_(list(lanes)), is_timed)
    for task_id, name, started_ms, ended_ms in cast("Iterable[tuple[str, str, int, int]]", query.tuples()):
        yield name, lanes[task_id], ended_ms - started_ms


def _add_durations(took: Iterable[tuple[str, str, int]]) -> None:
    times, sums = Counter[tuple[str, str, int]](), Counter[tuple[str, str, int]]()
    for stage, lane, ms in took:
        # The clocks of two hosts may differ by more than a short wait.
        key = (stage, lane, _bound_of(max(0, ms)))
        times[key] += 1
        sums[key] += max(0, ms)
    add_up(DurationTotal, _DURATION_KEY, {key: (times[key], sums[key]) for key in times}, ("times", "sum_ms"))


def _bound_of(ms: int) -> int:
    return next((bound for bound in BOUNDS_MS if ms <= bound), ENDLESS_MS)


def _mark_deliveries() -> list[tuple[str, str, int, int]]:
    is_due = ~WebhookDelivery.is_counted & WebhookDelivery.ended_ms.is_null(is_null=False)
    oldest = WebhookDelivery.select(WebhookDelivery.id).where(is_due).order_by(WebhookDelivery.ended_ms).limit(_BATCH)
    marked = (
        WebhookDelivery.update(is_counted=True)
        .where(WebhookDelivery.id.in_(oldest), is_due)
        .returning(WebhookDelivery)
        .execute()
    )
    return [(row.state, row.lane, row.created_ms, row.ended_ms) for row in marked]
