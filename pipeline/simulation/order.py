"""The order of the queue in plain Python: clocks, tags, gates and seats, line by line what `queue/lua/lib` does.

It is written a second time on purpose. A simulation of a thousand deep lines would take minutes of calls to a server;
`tests/integration/simulation` shows that both choose the same tasks in the same order.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pipeline.queue.types import DeviceRules, Lane
from pipeline.simulation.ordered import OrderedSet

Policy = Literal["fair", "aging"]

#: Worker-ms charged for a task of a lane that has never finished one, as in lua/lib/lane.lua.
_FIRST_ESTIMATE = 100
#: Below this a sum of weights is a rounding error, as in lua/lib/device.lua.
_NO_WEIGHT = 1e-9


class Entry(NamedTuple):
    """One place in a line."""

    order: float
    member: str
    task_id: str
    size_class: str


class Seated(NamedTuple):
    """A member of a ready set with its score."""

    member: str
    score: float


@dataclass(slots=True)
class Device:
    """One device in one lane."""

    mac: str
    site: str = ""
    rules: DeviceRules = field(default_factory=DeviceRules)
    tag: float = 0.0
    charge: float = 0.0
    inflight: int = 0
    active: float = 0.0
    turn: str = ""
    deferred_until: float = 0
    credit: float | None = None
    credit_ms: float = 0
    line: OrderedSet = field(default_factory=OrderedSet)

    @property
    def weight(self) -> float:
        return self.rules.weight or 1.0

    def credit_at(self, now: int) -> float:
        """Return the tokens of the rate limit."""
        if self.credit is None:
            return self._bucket
        self.credit_ms = min(self.credit_ms, now)
        earned = (now - self.credit_ms) * (self.rules.rate_per_minute or 0.0) / 60000
        return min(self._bucket, self.credit + earned)

    @property
    def _bucket(self) -> float:
        return max(1.0, self.rules.rate_per_minute or 0.0)

    def take_credit(self, now: int) -> None:
        if self.rules.rate_per_minute:
            self.credit, self.credit_ms = self.credit_at(now) - 1, now

    def return_credit(self, now: int) -> None:
        if self.rules.rate_per_minute:
            self.credit, self.credit_ms = min(self._bucket, self.credit_at(now) + 1), now

    def shut_gate(self, now: int) -> tuple[bool, float | None]:
        """Say whether a gate keeps the device out, and until when if it opens by itself, epoch ms."""
        cap = self.rules.max_inflight
        if self.rules.is_paused or (cap and self.inflight >= cap):
            return True, None
        if self.deferred_until > now:
            return True, self.deferred_until
        per_minute = self.rules.rate_per_minute
        missing = 1 - self.credit_at(now) if per_minute else 0.0
        if per_minute and missing > _NO_WEIGHT:
            opens = now + math.ceil(missing * 60000 / per_minute)
            return opens > now, opens
        return False, None


@dataclass(slots=True)
class Site:
    """One site in one lane: its own tag, and the clock of its devices."""

    name: str
    tag: float = 0.0
    charge: float = 0.0
    inflight: int = 0
    set_weight: float = 0.0
    turn: str = ""
    v: float = 0.0
    t: int = 0
    phi: float = 0.0
    ready: OrderedSet = field(default_factory=OrderedSet)

    @property
    def weight(self) -> float:
        return self.set_weight if self.set_weight > 0 else 1.0

    def first(self) -> Seated | None:
        """Return the device whose turn is next."""
        rows = self.ready.first()
        return Seated(rows[0][1], rows[0][0]) if rows else None


@dataclass(slots=True)
class LaneOrder:
    """The order of one lane; methods carry the names of the fragments they mirror."""

    name: Lane
    policy: Policy
    backoff: OrderedSet
    v: float = 0.0
    t: int = 0
    phi: float = 0.0
    busy: int = 0
    token: int = 0
    seq: int = 0
    active_sites: int = 0
    estimates: dict[str, float] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    ready: OrderedSet = field(default_factory=OrderedSet)
    oldest: OrderedSet = field(default_factory=OrderedSet)
    leases: OrderedSet = field(default_factory=OrderedSet)

    def open(self, site_name: str, now: int) -> Site:
        """Advance the clocks of the lane and of the site to `now`, and return the site."""
        site = self.sites.setdefault(site_name, Site(site_name))
        self.v += _work_done(self.busy, self.phi, self.t, now)
        self.t = max(now, self.t)
        site.v += _work_done(site.inflight, site.phi, site.t, now)
        site.t = max(now, site.t)
        return site

    def device(self, mac: str) -> Device:
        return self.devices.setdefault(mac, Device(mac))

    def next_seq(self) -> str:
        self.seq += 1
        return f"{self.seq:016d}"

    def next_token(self, now: int) -> int:
        self.token = max(self.token + 1, now * 1000)
        return self.token

    def largest_estimate(self) -> float:
        return max(self.estimates.values(), default=_FIRST_ESTIMATE)

    def estimate(self, size_class: str) -> float:
        known = self.estimates.get(size_class)
        return self.largest_estimate() if known is None else known

    def learn_cost(self, size_class: str, cost: float) -> None:
        self.estimates[size_class] = _decayed_maximum(self.estimates.get(size_class), cost)

    def head(self, device: Device) -> Entry | None:
        rows = device.line.first()
        return entry_of(*rows[0]) if rows else None

    def _head_start(self, head: Entry | None) -> float:
        return self.largest_estimate() - self.estimate(head.size_class) if head else 0.0

    def _account_activity(self, site: Site, device: Device, head: Entry | None) -> None:
        is_active = head is not None or device.inflight > 0
        phi_before = site.phi
        if is_active and device.active == 0:
            device.tag = max(device.tag, site.v - self._head_start(head) / device.weight)
            device.active = device.weight
            site.phi = phi_before + device.weight
        elif not is_active and device.active > 0:
            phi = phi_before - device.active
            device.active = device.charge = 0
            site.phi = phi if phi > _NO_WEIGHT else 0.0
        self._account_site(site, phi_before, head)

    def _account_site(self, site: Site, phi_before: float, head: Entry | None) -> None:
        if phi_before == 0 and site.phi > 0:
            site.tag = max(site.tag, self.v - self._head_start(head) / site.weight)
            self.phi += site.weight
            self.active_sites += 1
            if self.active_sites == 2:
                self._rescore_the_lonely(site)
        elif phi_before > 0 and site.phi == 0:
            site.charge = 0
            self.active_sites -= 1
            self.phi = max(self.phi - site.weight, 0.0) if self.active_sites > 0 else 0.0

    def _rescore_the_lonely(self, newcomer: Site) -> None:
        rows = self.ready.first()
        lonely = self.sites[member_of(rows[0][1])] if rows else newcomer
        first = lonely.first()
        if lonely is not newcomer and first:
            self.ready.put(lonely.turn, self._site_score(lonely, first))

    def _site_score(self, site: Site, first: Seated) -> float:
        if self.policy == "aging":
            return first.score
        head = self.head(self.devices[member_of(first.member)])
        ahead = site.charge + (self.estimate(head.size_class) if head else self.largest_estimate())
        return site.tag + ahead / site.weight

    def _turn_score(self, device: Device, head: Entry) -> float:
        if self.policy == "aging":
            return head.order
        return device.tag + (device.charge + self.estimate(head.size_class)) / device.weight

    def seat_site(self, site: Site, first: Seated | None) -> None:
        """Seat the site iff one of its devices is seated."""
        if first:
            if not site.turn:
                site.turn = f"{self.next_seq()}:{site.name}"
                site.tag = max(site.tag, self.v - self.largest_estimate() / site.weight)
            self.ready.put(site.turn, self._site_score(site, first))
        elif site.turn:
            self.ready.drop(site.turn)
            site.turn = ""

    def seat(self, site: Site, device: Device, head: Entry | None, now: int) -> Seated | None:
        """Seat the device iff its line is not empty and no gate is shut; return its seat."""
        self._account_activity(site, device, head)
        is_shut, opens = device.shut_gate(now)
        if head and not is_shut:
            if not device.turn:
                device.turn = f"{self.next_seq()}:{device.mac}"
                device.tag = max(device.tag, site.v - self.largest_estimate() / device.weight)
            score = self._turn_score(device, head)
            site.ready.put(device.turn, score)
            return Seated(device.turn, score)
        if head and opens is not None:
            self.backoff.put(f"{device.mac}:{self.name}", opens)
        if device.turn:
            site.ready.drop(device.turn)
            device.turn = ""
        return None

    def reseat(self, site: Site, device: Device, now: int) -> None:
        """After any change to the line but a claim: seat device and site, keep the index of waiting devices."""
        head = self.head(device)
        if head:
            self.oldest.put(device.mac, head.order)
        else:
            self.oldest.drop(device.mac)
        self.seat(site, device, head, now)
        self.seat_site(site, site.first())

    def is_other_starved(self, mac: str, now: int, starved_ms: int) -> bool:
        """Say whether another device that could be served has waited too long."""
        since = now - starved_ms
        for _, other in self.oldest.first(4, until=since):
            device = self.devices[other]
            head = self.head(device)
            if other != mac and head and head.order <= since and device.turn:
                return True
        return False


def entry_of(order: float, member: str) -> Entry:
    _, size_class, task_id = member.split(":", 2)
    return Entry(order, member, task_id, size_class)


def member_of(turn: str) -> str:
    """Return the device or site that a seat belongs to."""
    return turn.split(":", 1)[1]


def _work_done(busy: int, phi: float, since: int, now: int) -> float:
    return 0.0 if since == 0 or phi == 0 else busy * max(0, now - since) / phi


def _decayed_maximum(known: float | None, cost: float) -> float:
    if known is not None and cost < known:
        cost = known - (known - cost) * 0.1
    return max(1, math.floor(cost))
