"""The counts that all processes share, also those that are zero, so that a first one is seen as an increase."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pipeline import errors, metrics
from pipeline.queue import LANES, Counters
from pipeline.queue.counters import ENDLESS, REQUEST_BOUNDS_MS, SUM, labels_of
from web.figures.types import Figure, Figures, Spread

#: Why a request may be refused that could have been taken at another time.
REFUSALS: Sequence[type[errors.FairlaneError]] = (
    errors.QueueFull,
    errors.DeviceBacklogFull,
    errors.WouldExpire,
    errors.RateLimited,
    errors.QueueUnavailable,
    errors.DatabaseUnavailable,
    errors.StorageUnavailable,
    errors.ListUnavailable,
)
_ENGINE_FAILURES = (errors.EngineTimeout, errors.EngineMemory, errors.EngineCrashed)

#: Labels that there may be -> told as zero until they are counted.
_ZEROS: Mapping[metrics.Metric, Sequence[tuple[str, ...]]] = {
    metrics.REFUSALS: [(kind.code,) for kind in REFUSALS],
    metrics.LEASES_LOST: [(lane,) for lane in LANES],
    metrics.REAPED_TASKS: [(lane, outcome) for lane in LANES for outcome in ("queued", "dead")],
    metrics.LEDGER_REPAIRS: [("enqueued",), ("closed",)],
    metrics.ENGINE_FAILURES: [(kind.code,) for kind in _ENGINE_FAILURES],
    metrics.GPU_FALLBACKS: [()],
    metrics.DELIVERY_ATTEMPTS: [("taken",), ("refused",)],
    metrics.RETRIES: [],
    metrics.DEFERS: [],
    metrics.HAND_BACKS: [],
    metrics.HTTP_REQUESTS: [],
}


class CountedFigures:
    """Reads one hash of some hundred fields."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def read(self) -> Iterator[Figures]:
        """Raises: QueueUnavailable."""
        counts = self._counters.read()
        for metric, zeros in _ZEROS.items():
            counted = {labels_of(metric, field): count for field, count in counts.items()}
            for labels, count in (dict.fromkeys(zeros, 0) | counted).items():
                if labels is not None:
                    yield Figure(metric, labels, count)
        yield from _requests(counts)


def _requests(counts: Mapping[tuple[str, ...], int]) -> Iterator[Spread]:
    name, width = metrics.HTTP_REQUEST.name, len(metrics.HTTP_REQUEST.labels)
    found: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for field, count in counts.items():
        if field[0] == name and len(field) == width + 2:
            found[field[1:-1]][field[-1]] = count
    for labels, buckets in found.items():
        times = [buckets.get(str(bound), 0) for bound in (*REQUEST_BOUNDS_MS, ENDLESS)]
        yield Spread(metrics.HTTP_REQUEST, labels, REQUEST_BOUNDS_MS, times, buckets.get(SUM, 0))
