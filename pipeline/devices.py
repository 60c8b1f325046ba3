"""Devices as people look at them and rule them: what the database keeps of each beside how it stands in the queue.

A list costs as much as it looks at, `LOOKED_AT_MAX` devices a page at most, however many there are. Who waits is read
off the queue's index of waiting devices, about the longest waiting first; who is sought by MAC, or has nothing waiting,
is read off the database, by MAC.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from models.devices import DevicePlace, DeviceRow, Devices, SetRules
from models.scope import EVERYTHING, Scope
from pipeline.device_errors import DeviceAmbiguous, DeviceNotFound
from pipeline.queue import LANES, PAGE_MAX, DeviceRules, DeviceState, FairQueue, Lane, LineState, Listed, Pages
from pipeline.queue.limits import check_device_rules

#: Devices that one page of a list looks at.
LOOKED_AT_MAX = PAGE_MAX
#: Devices whose rules are told to an empty queue in one go.
_BATCH = 500

#: Gates of the queue -> what they are called for people.
_GATES = {"": None, "rate": "rate_limited"}

Show = Literal["waiting", "starved", "paused", "all"]
Sort = Literal["oldest", "waiting", "share"]
Place = DevicePlace | Listed


@dataclass(frozen=True, slots=True)
class WantedDevices:
    """Which devices are meant, and in which order.

    Args:
        within: no others than these, whatever else is given.
        show: those with tasks waiting, those that starve, those that are paused as a whole or in a lane, or all.
        lane: look at this lane only; None: at all of them.
        prefix: of the MAC, in lowercase hex digits; the order is then that of the MACs.
        sort: by the longest wait; or of the `LOOKED_AT_MAX` that wait longest, by tasks waiting or by share.
    """

    within: Scope = EVERYTHING
    show: Show = "waiting"
    lane: Lane | None = None
    prefix: str = ""
    sort: Sort = "oldest"

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return LANES if self.lane is None else (self.lane,)

    @property
    def is_by_wait(self) -> bool:
        """Read off the queue's index, and not by MAC off the database."""
        return self.show in ("waiting", "starved") and not self.prefix and self.within.macs is None


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device: what is set for it, and how it stands."""

    row: DeviceRow
    state: DeviceState

    def told(self) -> dict[str, Any]:
        """All of it, under the names that API and command line use."""
        row, rules, lines = self.row, self.row.rules, self.state.lines
        return {
            "mac": row.mac,
            "site": row.site,
            "first_seen_ms": row.first_seen_ms,
            "last_seen_ms": row.last_seen_ms,
            "weight": rules.weight,
            "max_inflight": rules.max_inflight,
            "rate_per_minute": rules.rate_per_minute,
            "paused": rules.is_paused,
            "waiting": sum(line.waiting for line in lines),
            "in_flight": sum(line.in_flight for line in lines),
            "pending": self.state.pending,
            "oldest_wait_ms": max((line.wait_ms for line in lines if line.wait_ms is not None), default=None),
            "starved": any(line.is_starved for line in lines),
            "lanes": {line.lane: _told_of(line, is_paused=line.lane in rules.paused_lanes) for line in lines},
        }

    def lines(self, wanted: WantedDevices) -> Iterator[LineState]:
        return (line for line in self.state.lines if line.lane in wanted.lanes)

    def is_shown(self, wanted: WantedDevices) -> bool:
        if wanted.show == "paused":
            return self.row.rules.is_paused or not self.row.rules.paused_lanes.isdisjoint(wanted.lanes)
        if wanted.show == "all":
            return True
        return any(line.is_starved if wanted.show == "starved" else line.waiting for line in self.lines(wanted))


@dataclass(frozen=True, slots=True)
class DevicePage:
    """One page.

    Args:
        after: where the next page begins; None when this is the last. A page looks at `LOOKED_AT_MAX` devices, so that
            one which is not the last may hold few devices, or none.
        has_more: there are devices that no page of this order shows.
    """

    devices: tuple[DeviceView, ...]
    after: Place | None
    has_more: bool = False


class DeviceBook:
    """All devices. Every method raises `QueueUnavailable` and `DatabaseUnavailable`."""

    def __init__(self, devices: Devices, pages: Pages, queue: FairQueue) -> None:
        self._devices = devices
        self._pages = pages
        self._queue = queue

    def page(self, wanted: WantedDevices, *, after: Place | None, limit: int) -> DevicePage:
        """The next `limit` devices, 1 to `LOOKED_AT_MAX - 1`.

        Raises: ValueError when `after` is a place in another order.
        """
        if after is not None and wanted.is_by_wait != isinstance(after, Listed):
            raise ValueError("that is a place in another list")
        if wanted.is_by_wait and wanted.sort != "oldest":
            return self._sorted(wanted, limit)
        found: list[tuple[Place, DeviceView]] = []
        looked_at = 0
        while looked_at < LOOKED_AT_MAX:
            # One more than asked for, to know whether there is a next page.
            batch = min(max(limit + 1 - len(found), 25), LOOKED_AT_MAX - looked_at)
            places, views = self._batch(wanted, after, batch)
            found += [(place, view) for place, view in views if view.is_shown(wanted)]
            if len(found) > limit:
                return DevicePage(tuple(view for _, view in found[:limit]), found[limit - 1][0])
            if len(places) < batch or self._none_follows(wanted, places[-1], views):
                return DevicePage(tuple(view for _, view in found), None)
            after, looked_at = places[-1], looked_at + len(places)
        return DevicePage(tuple(view for _, view in found), after)

    def find(self, mac: str, scope: Scope, site: str | None = None) -> DeviceView:
        """One device.

        Args:
            site: whose; None: that of the only site which has such a device.
        Raises: DeviceNotFound, DeviceAmbiguous.
        """
        rows = [row for row in self._devices.named([mac], scope) if site in (None, row.site)]
        if not rows:
            raise DeviceNotFound(f"no device {mac}")
        if len(rows) > 1:
            raise DeviceAmbiguous(f"{len(rows)} sites have a device {mac}: say whose")
        return self._views(rows)[0]

    def count_paused(self, *, most: int) -> int:
        """How many devices are paused, as a whole or in a lane; `most` when there are more."""
        return self._devices.count_paused(most=most)

    def change(self, device: DeviceView, merge: Callable[[SetRules], SetRules]) -> DeviceView:
        """Change what is set for a device, in the database and in the queue, where it acts at once: in both or in none.

        Args:
            merge: makes the new rules of the old ones; doing so again must change nothing.
        Raises: DeviceNotFound; InvalidInput, naming each value out of its range.
        """

        def merge_checked(rules: SetRules) -> SetRules:
            after = merge(rules)
            check_device_rules(queue_rules(after))
            return after

        row = self._devices.change(device.row.place, merge_checked, self._tell)
        if row is None:
            raise DeviceNotFound(f"no device {device.row.mac}")
        return self._views([row])[0]

    def _tell(self, row: DeviceRow) -> None:
        self._queue.set_device(row.line, queue_rules(row.rules))

    def _batch(
        self, wanted: WantedDevices, after: Place | None, limit: int
    ) -> tuple[Sequence[Place], list[tuple[Place, DeviceView]]]:
        """The next places of the list, and the devices that belong there."""
        if wanted.is_by_wait:
            listed = self._pages.listed(
                wanted.lanes,
                site=wanted.within.site,
                after=after if isinstance(after, Listed) else None,
                limit=limit,
            )
            return listed, list(self._listed_views(wanted, listed))
        rows = self._devices.page(
            wanted.within,
            prefix=wanted.prefix,
            only_ruled=wanted.show == "paused",
            after=after if isinstance(after, DevicePlace) else None,
            limit=limit,
        )
        return [row.place for row in rows], [(view.row.place, view) for view in self._views(rows)]

    def _listed_views(self, wanted: WantedDevices, listed: Sequence[Listed]) -> Iterator[tuple[Place, DeviceView]]:
        """The devices at these places, each where it comes first among the lanes wanted."""
        lines = list(dict.fromkeys(place.mac for place in listed))
        rows = {row.line: row for row in self._devices.named({line[:12] for line in lines}, wanted.within)}
        states = {state.mac: state for state in self._pages.states(lines)} if lines else {}
        for place in listed:
            row, state = rows.get(place.mac), states[place.mac]
            if row is not None and state.first_listed(wanted.lanes) in (place, None):
                yield place, DeviceView(row, state)

    def _none_follows(self, wanted: WantedDevices, last: Place, views: Sequence[tuple[Place, DeviceView]]) -> bool:
        """Whoever comes behind has waited less, so that none of them can starve."""
        if wanted.show != "starved" or not isinstance(last, Listed) or not views:
            return False
        return last.since_ms > views[-1][1].state.seen_ms - self._pages.starved_ms

    def _sorted(self, wanted: WantedDevices, limit: int) -> DevicePage:
        listed, views = self._batch(wanted, None, LOOKED_AT_MAX)
        shown = [view for _, view in views if view.is_shown(wanted)]

        def rank(view: DeviceView) -> float:
            if wanted.sort == "waiting":
                return sum(line.waiting for line in view.lines(wanted))
            return max(line.share or 0.0 for line in view.lines(wanted))

        devices = sorted(shown, key=rank, reverse=True)
        return DevicePage(tuple(devices[:limit]), None, len(devices) > limit or len(listed) == LOOKED_AT_MAX)

    def _views(self, rows: Sequence[DeviceRow]) -> list[DeviceView]:
        states = self._pages.states([row.line for row in rows]) if rows else []
        return [DeviceView(row, state) for row, state in zip(rows, states, strict=True)]


def _told_of(line: LineState, *, is_paused: bool) -> dict[str, Any]:
    return {
        "waiting": line.waiting,
        "in_flight": line.in_flight,
        "oldest_wait_ms": line.wait_ms,
        "score": round(line.score, 3),
        "starved": line.is_starved,
        "paused": is_paused,
        "gate": _GATES.get(line.gate, line.gate),
        "gate_opens_ms": line.opens_ms or None,
        "backoff_until_ms": line.unschedulable_until_ms or None,
        "share": None if line.share is None else round(line.share, 4),
        "due_share": None if line.due_share is None else round(line.due_share, 4),
    }


def restore_rules(queue: FairQueue, devices: Devices, *, shards: Collection[int] | None = None) -> int:
    """Tell an empty queue what is set for each device; return for how many something is.

    Args:
        shards: only those whose home is one of these.
    """
    count = 0
    for row in _ruled(devices):
        if shards is None or queue.home_number(row.line) in shards:
            queue.set_device(row.line, queue_rules(row.rules))
            count += 1
    return count


def _ruled(devices: Devices) -> Iterable[DeviceRow]:
    after: DevicePlace | None = None
    while rows := devices.page(EVERYTHING, only_ruled=True, after=after, limit=_BATCH):
        yield from rows
        after = rows[-1].place


def queue_rules(rules: SetRules) -> DeviceRules:
    """The rules as the queue takes them."""
    return DeviceRules(
        weight=None if rules.weight == 1.0 else rules.weight,
        max_inflight=rules.max_inflight,
        rate_per_minute=rules.rate_per_minute,
        is_paused=rules.is_paused,
        paused_lanes=frozenset(lane for lane in LANES if lane in rules.paused_lanes),
    )
