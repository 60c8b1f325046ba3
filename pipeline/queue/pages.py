"""Paged, bounded views of what waits and what runs, for people: each page costs as much as it shows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import redis

from pipeline.clock import Clock
from pipeline.queue.connection import reaching
from pipeline.queue.device_states import DeviceState, Listed, Weighed, states_of, weighed_of
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.scripts import Scripts
from pipeline.queue.types import LANES, Lane

#: Rows of one page, at most.
PAGE_MAX = 500
#: Devices that one call of a script looks at: it holds the server for well under a millisecond.
_LOOKED_AT = 25
#: What a device may be called; in Redis, where anybody may have written anything, stands perhaps something else.
_NAME = re.compile(r"[!-~]{1,64}")


@dataclass(frozen=True, slots=True)
class InFlight:
    """A task that a worker holds."""

    task_id: str
    lease_ends_ms: int


class Pages:
    """Looks at devices, lines and leases, a page at a time.

    Every method raises `QueueUnavailable` when the server does not answer in time, and ValueError for a page that is
    larger than `PAGE_MAX`.
    """

    def __init__(self, client: redis.Redis, rules: Rules, clock: Clock | None = None) -> None:
        self._client: Any = client
        self._scripts = Scripts(client)
        self._rules = rules
        self._clock = clock
        self._keys = Keys(rules.prefix)
        #: Wait after which a device that could be served starves, ms.
        self.starved_ms = rules.starved_ms

    def listed(
        self, lanes: Sequence[Lane], *, site: str | None = None, after: Listed | None = None, limit: int = 100
    ) -> list[Listed]:
        """The places of devices with work, about the longest waiting first; a device has one in each of its lanes.

        Args:
            site: of this site's devices only; None: of all.
            after: the last place of the page before.
        """
        page_end(0, limit)
        with reaching("listed"):
            rows = [place for lane in lanes for place in self._listed_in(lane, site, after, limit)]
        return sorted(rows)[:limit]

    def states(self, macs: Sequence[str]) -> list[DeviceState]:
        """How these devices stand, whether they have work or not, in their order."""
        page_end(0, max(1, len(macs)))
        seen = self.look(macs)
        sites = {device.site: self.weigh(device.site) for device in seen if device.site}
        return [_weighed(device, sites[device.site]) if device.site else device for device in seen]

    def look(self, macs: Sequence[str]) -> list[DeviceState]:
        """The same without what their sites were given."""
        parts = [macs[start : start + _LOOKED_AT] for start in range(0, len(macs), _LOOKED_AT)]
        rows = [(self._given_now(), " ".join(LANES), " ".join(part)) for part in parts]
        replies = self._scripts.call_many("look", self._keys.epoch(), rows)
        pairs = zip(replies, parts, strict=True)
        return [state for reply, part in pairs for state in states_of(reply, part, self._rules)]

    def weigh(self, site: str) -> tuple[Weighed, ...]:
        """What a site was given of late, by lane, in the order of `LANES`."""
        return weighed_of(self._scripts.call("weigh", self._keys.epoch(), self._given_now(), " ".join(LANES), site))

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

    def _listed_in(self, lane: Lane, site: str | None, after: Listed | None, limit: int) -> list[Listed]:
        index = self._keys.oldest(lane) if site is None else self._keys.oldest_of(lane, site)
        return list(islice(self._behind(index, lane, after, limit), limit))

    def _behind(self, index: str, lane: Lane, after: Listed | None, limit: int) -> Iterable[Listed]:
        # A page may begin among devices that came in the same ms: those before it are passed over.
        start, offset = "-inf" if after is None else after.since_ms, 0
        while True:
            rows = self._client.zrangebyscore(index, start, "+inf", start=offset, num=limit, withscores=True)
            places = (Listed(int(since_ms), lane, mac.decode("utf-8", "replace")) for mac, since_ms in rows)
            yield from (place for place in places if _NAME.fullmatch(place.mac) and (after is None or place > after))
            offset += len(rows)
            if len(rows) < limit:
                return

    def _given_now(self) -> int | str:
        return "" if self._clock is None else self._clock.now_ms()


def in_flight_of(address: str, ends_ms: float) -> InFlight:
    return InFlight(address.split(":", 2)[-1], int(ends_ms))


def page_end(offset: int, limit: int) -> int:
    """The rank of the last row of a page."""
    if not (offset >= 0 and 1 <= limit <= PAGE_MAX):
        raise ValueError(f"a page begins at 0 or later and has 1 to {PAGE_MAX} rows")
    return offset + limit - 1


def _weighed(device: DeviceState, site: Sequence[Weighed]) -> DeviceState:
    return replace(device, lines=tuple(line.weighed(own) for line, own in zip(device.lines, site, strict=True)))
