"""Paged, bounded views of what waits and what runs, for people: each page costs as much as it shows."""

from dataclasses import dataclass
from typing import Any

import redis

from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.types import Lane

#: Rows of one page, at most.
PAGE_MAX = 500


@dataclass(frozen=True, slots=True)
class DeviceState:
    """One device in one lane.

    Args:
        waiting: tasks in its line.
        pending: tasks waiting, delayed and in flight, all lanes.
        oldest_ms: order of the first task in its line, epoch ms; None when the line is empty.
        score: aging score S = min(wait, longest wait that counts) × weight, seconds: computed when asked, never stored.
        unschedulable_until_ms: end of its backoff, epoch ms, 0 for none.
    """

    mac: str
    site: str
    lane: Lane
    waiting: int
    in_flight: int
    pending: int
    oldest_ms: int | None
    score: float
    weight: float
    max_inflight: int | None
    rate_per_minute: float | None
    is_paused: bool
    unschedulable_until_ms: int


@dataclass(frozen=True, slots=True)
class InFlight:
    """A task that a worker holds."""

    task_id: str
    lease_ends_ms: int


class Pages:
    """Looks at lines and leases, a page at a time.

    Every method raises `QueueUnavailable` when the server does not answer in time, and ValueError for a page that is
    larger than `PAGE_MAX`.
    """

    def __init__(self, client: redis.Redis, rules: Rules) -> None:
        self._client: Any = client
        self._rules = rules
        self._keys = Keys(rules.prefix)

    def devices(self, lane: Lane, *, now_ms: int, offset: int = 0, limit: int = 100) -> list[DeviceState]:
        """The devices with work in a lane, about the longest waiting first."""
        with reaching("devices"):
            macs = [
                mac.decode() for mac in self._client.zrange(self._keys.oldest(lane), offset, page_end(offset, limit))
            ]
            return [self._device(mac, lane, now_ms) for mac in macs]

    def device(self, mac: str, lane: Lane, *, now_ms: int) -> DeviceState:
        """One device in one lane, whether it has work or not."""
        with reaching("device"):
            return self._device(mac, lane, now_ms)

    def waiting(self, mac: str, lane: Lane, *, offset: int = 0, limit: int = 100) -> list[str]:
        """The ids of a device's waiting tasks, in the order in which they will be served."""
        with reaching("waiting"):
            members = self._client.zrange(self._keys.line(mac, lane), offset, page_end(offset, limit))
        return [member.decode().split(":", 3)[-1] for member in members]

    def in_flight(self, lane: Lane, *, offset: int = 0, limit: int = 100) -> list[InFlight]:
        """The tasks that workers hold, the one whose lease ends first first."""
        with reaching("in flight"):
            rows = self._client.zrange(self._keys.leases(lane), offset, page_end(offset, limit), withscores=True)
        return [in_flight_of(address.decode(), ends_ms) for address, ends_ms in rows]

    def _device(self, mac: str, lane: Lane, now_ms: int) -> DeviceState:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hgetall(self._keys.meta(mac))
            pipe.zcard(self._keys.line(mac, lane))
            pipe.zrange(self._keys.line(mac, lane), 0, 0, withscores=True)
            raw, waiting, head = pipe.execute()
        meta = {name.decode(): value.decode() for name, value in raw.items()}
        oldest_ms = int(head[0][1]) if head else None
        wait_s = 0.0 if oldest_ms is None else max(0, now_ms - oldest_ms) / 1000
        return DeviceState(
            mac=mac,
            site=meta.get("site", ""),
            lane=lane,
            waiting=int(waiting),
            in_flight=int(meta.get(f"inflight:{lane}", 0)),
            pending=int(meta.get("pending_count", 0)),
            oldest_ms=oldest_ms,
            score=min(wait_s, self._rules.aging_max_s) * self._rules.aging_weight,
            weight=float(meta.get("weight", 1)),
            max_inflight=int(meta["max_inflight"]) if "max_inflight" in meta else None,
            rate_per_minute=float(meta["rate_per_minute"]) if "rate_per_minute" in meta else None,
            is_paused=meta.get("paused") == "1",
            unschedulable_until_ms=int(float(meta.get(f"unschedulable_until:{lane}", 0))),
        )


def in_flight_of(address: str, ends_ms: float) -> InFlight:
    return InFlight(address.split(":", 2)[-1], int(ends_ms))


def page_end(offset: int, limit: int) -> int:
    """The rank of the last row of a page."""
    if not (offset >= 0 and 1 <= limit <= PAGE_MAX):
        raise ValueError(f"a page begins at 0 or later and has 1 to {PAGE_MAX} rows")
    return offset + limit - 1
