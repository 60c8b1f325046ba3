"""Counts of what no table holds, shared by all processes: batched in each, added to one hash every second.

A flood of refusals costs one addition in memory each. What a process has counted in its last second is lost when it
is killed; when the server's answer to an addition is lost, that second may count twice.
"""

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import redis

from pipeline.errors import QueueUnavailable
from pipeline.metrics import Metric
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.reading import whole, words

log = logging.getLogger(__name__)

#: Seconds between two additions to the hash.
_FLUSH_S = 1.0
#: Different counts that one process keeps while the server does not answer; there are some hundred.
_KEPT_MAX = 2_000
_SEPARATOR = "|"
#: In place of a bound: what took longer than all, and the sum of all, ms.
ENDLESS, SUM = "inf", "sum"

#: Upper bounds of the buckets of requests, ms.
REQUEST_BOUNDS_MS = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)


class Counters:
    """The counts; any thread may count.

    Args:
        keys: of the queue, of its shard 0 when it has shards.
        is_timed: write every second by itself; else only when told.
    """

    def __init__(self, client: redis.Redis, keys: Keys, *, is_timed: bool = True) -> None:
        self._client = client
        self._keys = keys
        self._is_timed = is_timed
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._is_failing = False

    def count(self, metric: Metric, *labels: str, by: int = 1) -> None:
        """Count something; never fails, and never waits for the server."""
        if by:
            self._add({_field(metric, *labels): by})

    def observe(self, metric: Metric, *labels: str, took_ms: int) -> None:
        """Put a duration into its bucket, one of `REQUEST_BOUNDS_MS`."""
        bound = next((str(bound) for bound in REQUEST_BOUNDS_MS if took_ms <= bound), ENDLESS)
        self._add({_field(metric, *labels, bound): 1, _field(metric, *labels, SUM): took_ms})

    def flush(self) -> None:
        """Add to the hash what was counted since the last time; what cannot be added is kept for the next time."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        try:
            self._write(counts)
        except QueueUnavailable as exc:
            self._add(counts)
            if not self._is_failing:
                log.warning("counts are kept until the queue answers", extra={"reason": str(exc)})
            self._is_failing = True
        else:
            self._is_failing = False

    def close(self) -> None:
        """Write what is left; nothing is written by itself after that."""
        self._closed.set()
        self.flush()

    def read(self) -> dict[tuple[str, ...], int]:
        """All counts of all processes: name of the metric and values of its labels -> count.

        Raises: QueueUnavailable.
        """
        with reaching("counters"):
            found: Any = self._client.hgetall(self._keys.counters())
        return {tuple(words(field).split(_SEPARATOR)): whole(words(count)) for field, count in found.items()}

    def _add(self, counts: Mapping[str, int]) -> None:
        with self._lock:
            if len(self._counts) < _KEPT_MAX:
                self._counts.update(counts)
            if self._is_timed and self._thread is None:
                # Here and not when it is made: a thread does not come along through a fork.
                self._thread = threading.Thread(target=self._flush_on, name="counters", daemon=True)
                self._thread.start()

    def _write(self, counts: Mapping[str, int]) -> None:
        if not counts:
            return
        with reaching("counters"), self._client.pipeline(transaction=True) as pipe:
            for field, count in counts.items():
                pipe.hincrby(self._keys.counters(), field, count)
            pipe.execute()

    def _flush_on(self) -> None:
        while not self._closed.wait(_FLUSH_S):
            self.flush()


def _field(metric: Metric, *labels: str) -> str:
    return _SEPARATOR.join((metric.name, *labels))


def labels_of(metric: Metric, field: Sequence[str]) -> tuple[str, ...] | None:
    """The values of the labels in a key of `Counters.read`; None when it belongs to another metric, or to none."""
    name, *labels = field
    return tuple(labels) if name == metric.name and len(labels) == len(metric.labels) else None
