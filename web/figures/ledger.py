"""The ledger: how everything ended, how long it took, and what has piled up."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from models.backlog import Backlogs
from models.base import Database, connection
from models.tasks import END_STATES
from models.totals import BOUNDS_MS, Ends, Totals
from models.webhook_delivery import DELIVERY_STATES
from pipeline import metrics
from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable
from pipeline.queue import TASK_LANES, Inspector
from web.figures.types import Figure, Figures, Spread

#: Stage of the sums -> its metric; all others are steps.
_WHOLE = {"wait": metrics.WAIT, "run": metrics.RUN, "total": metrics.TASK}
#: What is told of each lane, with or without a task that went through it.
_STAGES: Mapping[str, Sequence[str]] = {
    "ocr": (*_WHOLE, "fetch", "ocr", "screen", "store", "notify"),
    "text": (*_WHOLE, "screen", "store", "notify"),
}
_DELIVERIES = "notify"


class LedgerFigures:
    """Reads them by some short questions, each answered by an index or a small table."""

    def __init__(self, database: Database, inspector: Inspector, clock: Clock) -> None:
        self._database = database
        self._totals = Totals(database)
        self._backlogs = Backlogs(database)
        self._inspector = inspector
        self._clock = clock

    def read(self) -> Iterator[Figures]:
        """Raises: DatabaseUnavailable."""
        with connection(self._database):
            yield from self._ends()
            yield from self._durations()
            yield from self._backlog()
            yield from self._clocks()

    def _ends(self) -> Iterator[Figure]:
        ends = {(each.lane, each.outcome): each for each in self._totals.ends()}
        for lane in TASK_LANES:
            found = [ends[lane, outcome] for outcome in END_STATES if (lane, outcome) in ends]
            for outcome in END_STATES:
                yield Figure(metrics.TASK_ENDS, (lane, outcome), _ends_of(found, outcome))
            yield Figure(metrics.TASKS_WITH_HITS, (lane,), sum(each.with_hits for each in found))
            yield Figure(metrics.HITS, (lane,), sum(each.hits for each in found))
        for outcome in DELIVERY_STATES[1:]:
            each = ends.get((_DELIVERIES, outcome))
            yield Figure(metrics.DELIVERY_ENDS, (outcome,), each.ends if each else 0)

    def _durations(self) -> Iterator[Spread]:
        found = {(each.lane, each.stage): each for each in self._totals.durations()}
        nothing = (0,) * (len(BOUNDS_MS) + 1)
        for lane in TASK_LANES:
            for stage in _STAGES[lane]:
                metric = _WHOLE.get(stage, metrics.STAGE)
                labels = (lane,) if stage in _WHOLE else (lane, stage)
                each = found.get((lane, stage))
                times, sum_ms = (each.times, each.sum_ms) if each else (nothing, 0)
                yield Spread(metric, labels, BOUNDS_MS, times, sum_ms)

    def _backlog(self) -> Iterator[Figure]:
        backlog, now_ms = self._backlogs.look(), self._clock.now_ms()
        yield Figure(metrics.TALLY_LAG, (), _age(backlog.uncounted_since_ms, now_ms))
        yield Figure(metrics.DEAD_LETTERS, (), backlog.dead_letters)
        for state, count in backlog.deliveries.items():
            yield Figure(metrics.DELIVERIES, (state,), count)
        yield Figure(metrics.OLDEST_DELIVERY, (), _age(backlog.oldest_delivery_ms, now_ms))

    def _clocks(self) -> Iterator[Figure]:
        # Whether the queue answers is told elsewhere.
        with suppress(QueueUnavailable):
            before_ms = self._inspector.now_ms()
            theirs_ms = self._backlogs.now_ms()
            if theirs_ms is not None:
                skew_ms = theirs_ms - (before_ms + self._inspector.now_ms()) / 2
                yield Figure(metrics.CLOCK_SKEW, ("database",), skew_ms / 1000)


def _ends_of(found: list[Ends], outcome: str) -> int:
    return sum(each.ends for each in found if each.outcome == outcome)


def _age(since_ms: int | None, now_ms: int) -> float:
    return 0.0 if since_ms is None else max(0, now_ms - since_ms) / 1000
