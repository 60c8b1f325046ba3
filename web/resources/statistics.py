"""What was done on which day, by which device and lane, how it ended, and how long it waited."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, cast, get_args

import falcon
from pydantic import Field

from models.statistics import Dimension, Period, Statistics, number_of, spelled
from pipeline.clock import Clock
from web.access import Access
from web.answers import Answer
from web.caller import caller_of
from web.errors import invalid_parameter
from web.operations import Operation, Parameter
from web.parameters import all_values
from web.replies import reply

_DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_USUAL = "day,lane,outcome"
#: Without dates: this many days, today the last.
_USUAL_DAYS = 7
_DAYS_MAX = 366
_ROWS_MAX = 1_000
_DATE = {"type": "string", "format": "date"}


class CountAnswer(Answer):
    """Sums; what was not asked for by name is null."""

    day: str | None = None
    site: str | None = None
    mac: str | None = None
    lane: str | None = None
    outcome: str | None = Field(None, description="done, failed, dead, expired, evicted or cancelled")
    tasks: int
    with_hits: int = Field(description="tasks in which something was found")
    hits: int = Field(description="how much was found in them")


class WaitsAnswer(Answer):
    """From acceptance to the start of the last attempt, right to a fifth; not told to a key of some devices only."""

    day: str
    lane: str
    tasks: int
    p50_ms: int
    p95_ms: int
    p99_ms: int


class StatisticsAnswer(Answer):
    """Days are those of `FAIRLANE_STATISTICS_UTC_OFFSET_MINUTES`; what ended in the last seconds may be missing."""

    from_day: str
    to_day: str
    counts: list[CountAnswer]
    is_cut: bool = Field(description=f"there are more than {_ROWS_MAX} sums; ask for fewer days or dimensions")
    waits: list[WaitsAnswer]


class StatisticsResource:
    """`GET /api/stats`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="What was done per day, device, lane and outcome, what was found, and how long it waited",
            parameters=(
                Parameter("from", f"first day; {_USUAL_DAYS} days with today by default", _DATE),
                Parameter("to", "last day; today by default", _DATE),
                Parameter("by", f"of {', '.join(_DIMENSIONS)}, separated by commas; {_USUAL} by default"),
            ),
            answers={200: (StatisticsAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, statistics: Statistics, clock: Clock) -> None:
        self._statistics = statistics
        self._clock = clock

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        scope = caller_of(req).scope
        period = self._period(req)
        counts = self._statistics.counts(period, _dimensions(req), scope, limit=_ROWS_MAX + 1)
        waits = self._statistics.waits(period, scope.site) if scope.macs is None else []
        reply(
            resp,
            StatisticsAnswer(
                from_day=spelled(period.first_day),
                to_day=spelled(period.last_day),
                counts=[
                    CountAnswer(**_named(one.of), tasks=one.tasks, with_hits=one.with_hits, hits=one.hits)
                    for one in counts[:_ROWS_MAX]
                ],
                is_cut=len(counts) > _ROWS_MAX,
                waits=[WaitsAnswer(**_named(one._asdict())) for one in waits],
            ),
        )

    def _period(self, req: falcon.Request) -> Period:
        last = _day(req, "to", default=self._statistics.day_of(self._clock.now_ms()))
        first = _day(req, "from", default=last - _USUAL_DAYS + 1)
        if not first <= last < first + _DAYS_MAX:
            raise invalid_parameter("from", f"must be a day before `to`, {_DAYS_MAX} days before it at most")
        return Period(first, last)


def _dimensions(req: falcon.Request) -> Sequence[Dimension]:
    values = all_values(req, "by") or [_USUAL]
    names = values[0].split(",")
    if len(values) > 1 or len(set(names)) < len(names) or not set(names) <= set(_DIMENSIONS):
        raise invalid_parameter("by", f"must be some of {', '.join(_DIMENSIONS)}, each once, separated by commas")
    return cast("Sequence[Dimension]", names)


def _day(req: falcon.Request, name: str, *, default: int) -> int:
    values = all_values(req, name)
    if not values:
        return default
    try:
        (value,) = values
        # strptime is strict where date.fromisoformat takes weeks and compact forms.
        return number_of(datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date())
    except ValueError as exc:
        raise invalid_parameter(name, "must be one day, as 2026-01-31") from exc


def _named(of: Mapping[str, Any]) -> dict[str, Any]:
    return {name: spelled(value) if name == "day" else value for name, value in of.items()}
