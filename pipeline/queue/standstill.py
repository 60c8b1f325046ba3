"""Since when nothing is claimed of a lane, though a device of it could be served and a worker could serve it."""

from collections.abc import Mapping, Sequence
from typing import Any

import redis

from pipeline.clock import Clock
from pipeline.queue.capability import Entry
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.pulse import LanePulse, Pulse
from pipeline.queue.reading import whole, words
from pipeline.queue.roster import Roster
from pipeline.queue.types import LANES, Lane

#: How long a note is believed without another look, ms; the scheduler looks every few seconds.
_LIFE_MS = 120_000
_SEPARATOR = "@"
#: From here on something is wrong, ms: a worker with a free slot claims within a second, a scheduler looks every 5 s,
#: and somebody is to know within 60 s.
TOO_LONG_MS = 30_000


class Standstill:
    """Notes in Redis what it sees, so that all who look know what each of them has seen.

    No lane stands still while something of it runs, while all of its devices are paused, capped or in a backoff, or
    while each of its workers says why it claims nothing (a watermark, a stop); nor without a worker, which is
    another matter.

    Args:
        keys: of the queue, of its shard 0 when it has shards.

    Every method raises `QueueUnavailable` when the server does not answer in time.
    """

    def __init__(self, client: redis.Redis, keys: Keys, pulse: Pulse, roster: Roster, clock: Clock) -> None:
        self._client = client
        self._keys = keys
        self._pulse = pulse
        self._roster = roster
        self._clock = clock

    def look(self) -> dict[Lane, int]:
        """For how long each lane has stood still, ms; 0 where it does not."""
        pulses, workers = self._pulse.lanes(), self._roster.workers()
        return {lane: self._note(lane, pulses[lane], self._may_claim(workers, lane)) for lane in LANES}

    def _may_claim(self, workers: Sequence[Entry], lane: Lane) -> bool:
        return any(not is_held(worker, lane) for worker in self._roster.able(workers, lane))

    def _note(self, lane: Lane, pulse: LanePulse, may_claim: bool) -> int:
        key = self._keys.standstill(lane)
        is_still = may_claim and pulse.is_servable and pulse.waiting > 0 and pulse.leased == 0
        with reaching("standstill"):
            raw: Any = self._client.get(key)
            noted = words(raw).rpartition(_SEPARATOR)
            now_ms = self._clock.now_ms()
            if not is_still:
                if noted[2]:
                    self._client.delete(key)
                return 0
            since_ms = whole(noted[2]) if noted[0] == pulse.mark and whole(noted[2]) else now_ms
            self._client.set(key, f"{pulse.mark}{_SEPARATOR}{since_ms}", px=_LIFE_MS)
        return max(0, now_ms - since_ms)


def standstill_words(lane: Lane, still_ms: int) -> str:
    """What is wrong, for people."""
    return f"tasks wait in lane {lane}, of which no live worker has claimed any for {still_ms // 1000} s"


def is_held(worker: Entry, lane: Lane) -> bool:
    """Say whether a worker says that it claims nothing of the lane now."""
    return worker.get("state") == "held" or _names(worker, lane)


def _names(worker: Mapping[str, str], lane: Lane) -> bool:
    return any(reason.strip().startswith(f"{lane}: ") for reason in worker.get("holds", "").split(";"))
