"""The last hour of each lane, a sample for each time slot; several schedulers write one."""

import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self, cast

import redis

from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.reading import snapshot_of, whole, words
from pipeline.queue.scripts import Scripts
from pipeline.queue.types import Lane

#: How far back it goes, ms.
SPAN_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A lane at one time.

    Args:
        ended: tasks that have ended since the data set began: the difference of two samples is what ended in between.
        waits: of all tasks that were ever counted, how many waited so long, by bucket; empty when that is not known.
    """

    waiting: int
    running: int
    oldest_wait_ms: int
    ended: int
    waits: tuple[int, ...] = ()

    @classmethod
    def read(cls, raw: bytes | None) -> Self | None:
        """The sample that was written so, None for anything else."""
        told = snapshot_of(raw) or {}
        counts = {name: told.get(name) for name in ("waiting", "running", "oldest_wait_ms", "ended")}
        waits = told.get("waits")
        if not isinstance(waits, list) or not all(_is_count(count) for count in (*counts.values(), *waits)):
            return None
        return cls(**cast("dict[str, int]", counts), waits=tuple(waits))


class Dated(NamedTuple):
    """A sample, and the begin of its time slot, epoch ms."""

    slot_ms: int
    sample: Sample


class History:
    """Every method raises `QueueUnavailable` when the server does not answer in time.

    Args:
        keys: of the queue, of its shard 0 when it has shards.
        interval_ms: length of a time slot.
    """

    def __init__(self, client: redis.Redis, keys: Keys, *, interval_ms: int) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._keys = keys
        self.interval_ms = interval_ms

    def sample(self, lane: Lane, sample: Sample, now_ms: int) -> bool:
        """Keep a sample for the slot of `now_ms`, epoch ms by the server's clock; False when there was one."""
        reply = self._scripts.call(
            "sample",
            self._keys.epoch(),
            lane,
            now_ms // self.interval_ms * self.interval_ms,
            max(1, SPAN_MS // self.interval_ms),
            SPAN_MS,
            json.dumps(asdict(sample), separators=(",", ":")),
        )
        return reply.word == "kept"

    def samples(self, lane: Lane) -> list[Dated]:
        """The samples of the lane, oldest first."""
        with reaching("history"):
            rows: Any = self._client.xrange(self._keys.history(lane))
        read = [(whole(words(row_id).partition("-")[0]), Sample.read(row.get(b"sample"))) for row_id, row in rows]
        return [Dated(slot_ms, sample) for slot_ms, sample in read if sample is not None]


def _is_count(told: object) -> bool:
    return isinstance(told, int) and not isinstance(told, bool) and told >= 0
