"""How one device stands in the queue, as `look.lua` and `weigh.lua` tell it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.queue.reading import number
from pipeline.queue.rules import Rules
from pipeline.queue.scripts import Reply
from pipeline.queue.types import LANES, Lane

#: Values that `look.lua` tells of a device, and of each of its lanes.
_OF_DEVICE, _OF_LANE = 7, 9


class Listed(NamedTuple):
    """A place in the index of waiting devices, ordered as pages are.

    Args:
        since_ms: order of the first task of its line, or of one that stood there earlier, epoch ms.
    """

    since_ms: int
    lane: Lane
    mac: str


@dataclass(frozen=True, slots=True)
class LineState:
    """One device in one lane.

    Args:
        listed_ms: its place in the index of waiting devices, epoch ms; None when it is not there.
        waiting: tasks in its line.
        wait_ms: of the first task in its line; None when the line is empty.
        score: aging score S = min(wait, longest wait that counts) × weight, seconds: computed when asked, never stored.
        gate: what keeps it from being served: paused, capped, deferred or rate; empty when nothing does.
        opens_ms: when the gate opens by itself, epoch ms, 0 when it does not.
        unschedulable_until_ms: end of its backoff, epoch ms, 0 for none.
        is_starved: it could be served and has waited for longer than the starvation hint.
        served_ms: worker-ms that it was given of late; what was given ten minutes ago counts for a third.
        active: its weight while it has work here, else 0.
        share: of what its site was given of late; None when that is nothing.
        due_share: its weight among the active devices of its site; None when it is not active.
    """

    lane: Lane
    listed_ms: int | None
    waiting: int
    in_flight: int
    wait_ms: int | None
    score: float
    gate: str
    opens_ms: int
    unschedulable_until_ms: int
    is_starved: bool
    served_ms: float
    active: float
    share: float | None = None
    due_share: float | None = None

    def weighed(self, site: "Weighed") -> "LineState":
        """The same beside all devices of its site."""
        share = self.served_ms / site.served_ms if site.served_ms >= 1 else None
        due = self.active / max(site.weights, self.active) if self.active > 0 else None
        return replace(self, share=None if share is None else min(1.0, share), due_share=due)


@dataclass(frozen=True, slots=True)
class DeviceState:
    """One device.

    Args:
        mac: as the queue knows it.
        seen_ms: when it stood so, by the queue's clock, epoch ms.
        site: empty when the queue does not know it (any more).
        pending: tasks waiting, delayed and in flight, all lanes.
        lines: one for each lane, in the order of `LANES`.
    """

    mac: str
    seen_ms: int
    site: str
    pending: int
    weight: float
    max_inflight: int | None
    rate_per_minute: float | None
    is_paused: bool
    paused_lanes: frozenset[Lane]
    lines: tuple[LineState, ...]

    def line(self, lane: Lane) -> LineState:
        return self.lines[LANES.index(lane)]

    def first_listed(self, lanes: Sequence[Lane]) -> Listed | None:
        """Where it comes first in the indexes of these lanes."""
        places = (Listed(line.listed_ms, line.lane, self.mac) for line in self.lines if line.listed_ms is not None)
        return min((place for place in places if place.lane in lanes), default=None)


@dataclass(frozen=True, slots=True)
class Weighed:
    """What all devices of a site were given of late in one lane, worker-ms, and what those with work weigh."""

    served_ms: float = 0.0
    weights: float = 0.0

    def __add__(self, other: "Weighed") -> "Weighed":
        return Weighed(self.served_ms + other.served_ms, self.weights + other.weights)


def states_of(reply: Reply, macs: Sequence[str], rules: Rules) -> list[DeviceState]:
    """Turn what `look.lua` says of these devices into values."""
    now_ms, told = reply.number(0), [value.decode("utf-8", "replace") for value in reply.values[1:]]
    width = _OF_DEVICE + len(LANES) * _OF_LANE
    return [_state(mac, told[i * width : (i + 1) * width], now_ms, rules) for i, mac in enumerate(macs)]


def weighed_of(reply: Reply) -> tuple[Weighed, ...]:
    """Turn what `weigh.lua` says into values, in the order of `LANES`."""
    numbers = [number(value.decode("utf-8", "replace")) for value in reply.values]
    return tuple(Weighed(*numbers[i : i + 2]) for i in range(0, len(numbers), 2))


def _state(mac: str, told: Sequence[str], now_ms: int, rules: Rules) -> DeviceState:
    site, pending, weight, cap, rate, paused, paused_lanes = told[:_OF_DEVICE]
    lines = [told[start : start + _OF_LANE] for start in range(_OF_DEVICE, len(told), _OF_LANE)]
    return DeviceState(
        mac=mac,
        seen_ms=now_ms,
        site=site,
        pending=int(number(pending)),
        weight=number(weight) or 1.0,
        max_inflight=int(number(cap)) or None,
        rate_per_minute=number(rate) or None,
        is_paused=paused == "1",
        paused_lanes=frozenset(lane for lane in LANES if lane in paused_lanes.split()),
        lines=tuple(_line(lane, line, now_ms, rules) for lane, line in zip(LANES, lines, strict=True)),
    )


def _line(lane: Lane, told: Sequence[str], now_ms: int, rules: Rules) -> LineState:
    listed, waiting, in_flight, oldest, gate, opens, deferred_until, served, active = told
    wait_ms = max(0, now_ms - int(number(oldest))) if oldest else None
    return LineState(
        lane=lane,
        listed_ms=int(number(listed)) if listed else None,
        waiting=int(number(waiting)),
        in_flight=int(number(in_flight)),
        wait_ms=wait_ms,
        score=min((wait_ms or 0) / 1000, rules.aging_max_s) * rules.aging_weight,
        gate=gate,
        opens_ms=int(number(opens)),
        unschedulable_until_ms=int(number(deferred_until)) if number(deferred_until) > now_ms else 0,
        is_starved=wait_ms is not None and not gate and wait_ms >= rules.starved_ms,
        served_ms=number(served),
        active=number(active),
    )
