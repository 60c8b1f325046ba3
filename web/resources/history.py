"""The last hour of each lane, for pictures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, cast

import falcon
from pydantic import Field

from models.totals import BOUNDS_MS
from pipeline.queue import LANES, History, Lane, Sample
from pipeline.queue.history import Dated
from web.access import Access
from web.answers import Answer
from web.errors import invalid_parameter
from web.operations import Operation, Parameter
from web.parameters import all_values
from web.replies import reply

_SHARE = 0.95


class HistorySample(Answer):
    """A lane at one time; `ended` and `p95_wait_ms` tell of the time since the sample before."""

    at_ms: int = Field(description="epoch ms")
    waiting: int
    running: int
    oldest_wait_ms: int
    ended: int | None = Field(description="tasks that have ended, whatever the end")
    p95_wait_ms: int | None = Field(description="95 % of them had waited no longer, about; null when none had begun")


class LaneHistory(Answer):
    lane: str
    samples: list[HistorySample]


class HistoryAnswer(Answer):
    """Samples are as far apart as the scheduler publishes watermarks, farther where none was running."""

    interval_ms: int
    lanes: list[LaneHistory]


class HistoryResource:
    """`GET /api/history`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE,
            summary="Each lane in the last hour, of the whole service",
            parameters=(Parameter("lane", "this lane only", {"type": "string", "enum": list(LANES)}),),
            answers={200: (HistoryAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, history: History) -> None:
        self._history = history

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        lanes = [
            LaneHistory(lane=lane, samples=list(_told(self._history.samples(lane)))) for lane in _lanes_asked_for(req)
        ]
        reply(resp, HistoryAnswer(interval_ms=self._history.interval_ms, lanes=lanes))


def _lanes_asked_for(req: falcon.Request) -> Sequence[Lane]:
    names = all_values(req, "lane")
    if len(names) > 1 or not set(names) <= set(LANES):
        raise invalid_parameter("lane", f"must be one of {', '.join(LANES)}")
    return cast("Sequence[Lane]", names) or LANES


def _told(samples: Sequence[Dated]) -> Iterator[HistorySample]:
    if samples:
        yield _sample(samples[0], ended=None, p95_wait_ms=None)
    for (_, before), now in pairwise(samples):
        yield _sample(now, ended=_grown(before.ended, now.sample.ended), p95_wait_ms=_p95(before, now.sample))


def _sample(dated: Dated, *, ended: int | None, p95_wait_ms: int | None) -> HistorySample:
    sample = dated.sample
    return HistorySample(
        at_ms=dated.slot_ms,
        waiting=sample.waiting,
        running=sample.running,
        oldest_wait_ms=sample.oldest_wait_ms,
        ended=ended,
        p95_wait_ms=p95_wait_ms,
    )


def _grown(before: int, now: int) -> int:
    """What has been added to a count, which begins anew when the queue has lost its data."""
    return now - before if now >= before else now


def _p95(before: Sample, now: Sample) -> int | None:
    bounds = (0, *BOUNDS_MS)
    if len(before.waits) != len(now.waits) or len(now.waits) != len(bounds):
        return None
    times = [_grown(*pair) for pair in zip(before.waits, now.waits, strict=True)]
    left = _SHARE * sum(times)
    for index, count in enumerate(times[:-1]):
        if count and left <= count:
            # As if those in a bucket were spread over it evenly.
            return round(bounds[index] + (bounds[index + 1] - bounds[index]) * left / count)
        left -= count
    return bounds[-1] if times[-1] else None
