"""What a queue is doing, in counts that cost the same however much waits: for metrics, history and health."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import redis

from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.reading import busy_slots, whole, words
from pipeline.queue.types import ENDS, LANES, Lane

_FIELDS = ("waiting", "delayed", "accepted", "token", "busy", *sorted(ENDS))


@dataclass(frozen=True, slots=True)
class LanePulse:
    """One lane, all shards together.

    Args:
        busy_slots: slots that hold something; fewer than what is leased, where one does several tasks together.
        accepted: tasks put in line since the data set began.
        ended: of these, how many have ended.
        is_servable: a device of it could be served now: none is when all are paused, capped, or wait for a backoff.
        mark: changes whenever something is claimed.
    """

    waiting: int
    delayed: int
    leased: int
    busy_slots: int
    accepted: int
    ended: int
    is_servable: bool
    mark: str


class DeviceCounts(NamedTuple):
    """Devices of all lanes, and the tasks they have pending."""

    paused: int
    backing_off: int
    full: int
    pending: int


class Pulse:
    """Every method raises `QueueUnavailable` when the server does not answer in time.

    Args:
        shards: the keys of each shard; of the whole queue when it has none.
    """

    def __init__(self, client: redis.Redis, shards: Sequence[Keys]) -> None:
        self._client = client
        self._shards = shards

    def lanes(self) -> dict[Lane, LanePulse]:
        """Each lane as it is now. O(1)."""
        parts = [self._lanes_of(keys) for keys in self._shards]
        return {lane: _one(each) for lane, *each in zip(LANES, *parts, strict=True)}

    def devices(self) -> DeviceCounts:
        """How many devices are not served at the moment, and why. O(1)."""
        sums = [0, 0, 0, 0]
        for keys in self._shards:
            with reaching("devices"), self._client.pipeline(transaction=False) as pipe:
                pipe.scard(keys.paused())
                pipe.zcard(keys.backoff())
                pipe.scard(keys.overloaded())
                pipe.get(keys.global_pending())
                *counts, pending = pipe.execute()
            sums = [before + more for before, more in zip(sums, [*counts, whole(words(pending))], strict=True)]
        return DeviceCounts(*sums)

    def _lanes_of(self, keys: Keys) -> list[LanePulse]:
        with reaching("pulse"), self._client.pipeline(transaction=False) as pipe:
            for lane in LANES:
                pipe.hmget(keys.lane(lane), _FIELDS)
                pipe.zcard(keys.leases(lane))
                pipe.zcard(keys.sites(lane))
            answers: list[Any] = pipe.execute()
        return [_read(*answers[index : index + 3]) for index in range(0, len(answers), 3)]


def _read(fields: Sequence[bytes | None], leased: int, sites: int) -> LanePulse:
    waiting, delayed, accepted, token, busy, *ends = (words(value) for value in fields)
    return LanePulse(
        waiting=whole(waiting),
        delayed=whole(delayed),
        leased=leased,
        busy_slots=busy_slots(busy),
        accepted=whole(accepted),
        ended=sum(map(whole, ends)),
        is_servable=sites > 0,
        mark=token,
    )


def _one(parts: Sequence[LanePulse]) -> LanePulse:
    return LanePulse(
        waiting=sum(part.waiting for part in parts),
        delayed=sum(part.delayed for part in parts),
        leased=sum(part.leased for part in parts),
        busy_slots=sum(part.busy_slots for part in parts),
        accepted=sum(part.accepted for part in parts),
        ended=sum(part.ended for part in parts),
        is_servable=any(part.is_servable for part in parts),
        mark=" ".join(part.mark for part in parts),
    )
