"""The queue in memory: the verbs of `FairQueue` that a simulation uses, over the order of `order.py`."""

from dataclasses import dataclass, replace

from pipeline.clock import Clock
from pipeline.errors import LeaseLost
from pipeline.queue.rules import Rules
from pipeline.queue.types import LANES, Claim, DeviceRules, Ended, Enqueued, Lane, Task, TaskState
from pipeline.simulation.order import Device, Entry, LaneOrder, Site, entry_of, member_of
from pipeline.simulation.ordered import OrderedSet

_HELD = (TaskState.LEASED, TaskState.RUNNING)


@dataclass(slots=True)
class _Record:
    task: Task
    member: str
    order: int
    site: str
    state: TaskState = TaskState.QUEUED
    token: int = 0
    claimed_ms: int = 0
    charged: float = 0.0
    defers: int = 0


@dataclass(frozen=True, slots=True)
class _Held:
    """A task in somebody's hands, and whose it is."""

    record: _Record
    lane: LaneOrder
    site: Site
    device: Device


class ModelQueue:
    """Serves the same tasks in the same order as `FairQueue` on a server.

    Limits, TTL and lost workers are left out: they take tasks away and choose none. Ended tasks are forgotten at once.
    """

    def __init__(self, rules: Rules, clock: Clock) -> None:
        self.rules = rules
        self._clock = clock
        self._backoff = OrderedSet()
        self._delayed = OrderedSet()
        self._lanes = {lane: LaneOrder(lane, rules.policy, self._backoff) for lane in LANES}
        self._records: dict[str, _Record] = {}
        self._pending: dict[str, int] = {}

    def enqueue(self, task: Task) -> Enqueued:
        """Put the task in line once."""
        if known := self._records.get(task.task_id):
            is_waiting = known.state is TaskState.QUEUED
            line = self._lanes[known.task.lane].device(known.task.mac).line
            return Enqueued(known.state, line.rank(known.member) + 1 if is_waiting else None, is_duplicate=True)
        now, lane = self._clock.now_ms(), self._lanes[task.lane]
        self._settle_site(task)
        device = lane.device(task.mac)
        site = lane.open(device.site, now)
        order = (task.created_ms or now) - task.boost_ms
        member = f"{lane.next_seq()}:{task.size_class}:{task.task_id}"
        self._records[task.task_id] = _Record(task, member, order, device.site)
        device.line.put(member, order)
        self._pending[task.mac] = self._pending.get(task.mac, 0) + 1
        lane.reseat(site, device, now)
        return Enqueued(TaskState.QUEUED, device.line.rank(member) + 1)

    def _settle_site(self, task: Task) -> None:
        # A device with something pending, in whatever lane, stays with its site.
        for lane in self._lanes.values():
            device = lane.device(task.mac)
            if self._pending.get(task.mac, 0) <= 0:
                device.site = task.site

    def claim(self, lane: Lane, *, limit: int = 1) -> list[Claim]:
        """Lease tasks of the devices whose turn it is, from the heads of their lines."""
        order, now = self._lanes[lane], self._clock.now_ms()
        claims: list[Claim] = []
        misses = 0
        while len(claims) < limit and misses < 8:
            rows = order.ready.first()
            if not rows:
                break
            batch = min(limit - len(claims), self.rules.batch_max)
            served = self._serve_site(order, member_of(rows[0][1]), batch, now)
            misses += not served
            claims += served
        return claims

    def _serve_site(self, lane: LaneOrder, name: str, limit: int, now: int) -> list[Claim]:
        site = lane.open(name, now)
        two = site.ready.first(2)
        if not two:
            lane.seat_site(site, None)
            return []
        device = lane.devices[member_of(two[0][1])]
        lane.v = max(lane.v, site.tag)
        site.v = max(site.v, device.tag)
        claims, behind = self._lease_turn(lane, site, device, limit, now)
        if not claims and not behind:
            lane.oldest.drop(device.mac)
        seated = lane.seat(site, device, behind, now)
        if lane.active_sites > 1 and (seated or len(two) > 1):
            # Whoever of the two is first now; the one behind has not moved.
            first = site.first()
            lane.seat_site(site, first)
        return claims

    def _lease_turn(
        self, lane: LaneOrder, site: Site, device: Device, limit: int, now: int
    ) -> tuple[list[Claim], Entry | None]:
        is_cut_short = limit > 1 and lane.is_other_starved(device.mac, now, self.rules.starved_ms)
        claims: list[Claim] = []
        while True:
            rows = device.line.first(2)
            if rows:
                claims.append(self._lease(lane, site, device, entry_of(*rows[0]), now))
            behind = entry_of(*rows[1]) if len(rows) > 1 else None
            is_full = len(claims) >= (1 if is_cut_short else limit)
            if behind is None or is_full or device.shut_gate(now)[0]:
                return claims, behind

    def _lease(self, lane: LaneOrder, site: Site, device: Device, entry: Entry, now: int) -> Claim:
        device.line.drop(entry.member)
        record = self._records[entry.task_id]
        record.state, record.token = TaskState.LEASED, lane.next_token(now)
        record.claimed_ms, record.charged = now, lane.estimate(entry.size_class)
        lane.leases.put(entry.task_id, now + self.rules.lease_ms)
        lane.busy += 1
        for payer in (site, device):
            payer.inflight += 1
            payer.charge += record.charged
        device.take_credit(now)
        return Claim(entry.task_id, lane.name, device.mac, site.name, record.token, now + self.rules.lease_ms)

    def _held(self, task_id: str, token: int) -> _Held:
        record = self._records.get(task_id)
        if not record or record.state not in _HELD or record.token != token:
            raise LeaseLost(f"the lease {token} of task {task_id} is over")
        lane = self._lanes[record.task.lane]
        return _Held(record, lane, lane.open(record.site, self._clock.now_ms()), lane.device(record.task.mac))

    def _release(self, held: _Held, cost: float) -> None:
        held.lane.leases.drop(held.record.task.task_id)
        held.lane.busy -= 1
        for payer in (held.site, held.device):
            payer.inflight -= 1
            payer.charge = max(0, payer.charge - held.record.charged)
            payer.tag += cost / payer.weight
        held.record.charged = 0

    def _end(self, held: _Held) -> None:
        del self._records[held.record.task.task_id]
        self._pending[held.device.mac] -= 1

    def _put_back(self, held: _Held) -> None:
        held.record.state = TaskState.QUEUED
        held.device.line.put(held.record.member, held.record.order)

    def _reseat(self, held: _Held) -> None:
        held.lane.reseat(held.site, held.device, self._clock.now_ms())

    def complete(self, task_id: str, token: int, *, cost_ms: int) -> None:
        """End the task and charge its device."""
        held = self._held(task_id, token)
        self._release(held, cost_ms)
        held.lane.learn_cost(str(held.record.task.size_class), cost_ms)
        self._end(held)
        self._reseat(held)

    def renew(self, task_id: str, token: int) -> int:
        """Hold the lease on, and charge what the task has used beyond its estimate."""
        now = self._clock.now_ms()
        record = self._records.get(task_id)
        if not record or record.state not in _HELD or record.token != token:
            raise LeaseLost(f"the lease {token} of task {task_id} is over")
        self._lanes[record.task.lane].leases.put(task_id, now + self.rules.lease_ms)
        excess = now - record.claimed_ms - record.charged
        if excess > 0:
            held = self._held(task_id, token)
            record.charged += excess
            held.site.charge += excess
            held.device.charge += excess
            held.lane.seat(held.site, held.device, held.lane.head(held.device), now)
            held.lane.seat_site(held.site, held.site.first())
        return now + self.rules.lease_ms

    def retry(self, task_id: str, token: int, *, cost_ms: int, delay_ms: int) -> int:
        """Put the task back after a failed attempt, due later."""
        held = self._held(task_id, token)
        self._release(held, cost_ms)
        due = self._delay(held, delay_ms)
        self._reseat(held)
        return due

    def _delay(self, held: _Held, delay_ms: int) -> int:
        due = self._clock.now_ms() + delay_ms
        self._delayed.put(held.record.task.task_id, due)
        held.record.state = TaskState.DELAYED
        return due

    def defer(self, task_id: str, token: int, *, code: str) -> Ended:
        """Put the task back without an attempt and its device's lane into backoff."""
        rules, held = self.rules, self._held(task_id, token)
        self._release(held, 0)
        held.device.return_credit(self._clock.now_ms())
        held.record.defers += 1
        state, due_ms = TaskState.DEAD if held.record.defers > rules.max_defers else TaskState.DELAYED, None
        if state is TaskState.DEAD:
            self._end(held)
        else:
            backoff_ms = min(rules.defer_base_ms * 2 ** (held.record.defers - 1), rules.defer_max_ms)
            due_ms = self._delay(held, backoff_ms)
            held.device.deferred_until = max(due_ms, held.device.deferred_until)
        self._reseat(held)
        return Ended(task_id, state, token, code, due_ms)

    def hand_back(self, task_id: str, token: int, *, cost_ms: int = 0) -> None:
        """Return the task to the head of its line."""
        held = self._held(task_id, token)
        self._release(held, cost_ms)
        held.device.return_credit(self._clock.now_ms())
        self._put_back(held)
        self._reseat(held)

    def promote(self, *, limit: int = 100) -> list[str]:
        """Put delayed tasks that are due back in line."""
        now = self._clock.now_ms()
        due = [task_id for _, task_id in self._delayed.first(limit, until=now)]
        for task_id in due:
            self._delayed.drop(task_id)
            record = self._records[task_id]
            lane = self._lanes[record.task.lane]
            held = _Held(record, lane, lane.open(record.site, now), lane.device(record.task.mac))
            self._put_back(held)
            self._reseat(held)
        return due

    def resume(self, *, limit: int = 100) -> list[str]:
        """Let devices whose backoff has ended be served again."""
        now = self._clock.now_ms()
        macs = []
        for _, member in self._backoff.first(limit, until=now):
            self._backoff.drop(member)
            mac, lane_name = member.rsplit(":", 1)
            lane = next(lane for name, lane in self._lanes.items() if name == lane_name)
            device = lane.device(mac)
            lane.reseat(lane.open(device.site, now), device, now)
            macs.append(mac)
        return macs

    def set_device(self, mac: str, wanted: DeviceRules) -> None:
        """Change how a device is served, at once."""
        now = self._clock.now_ms()
        for name, lane in self._lanes.items():
            device = lane.device(mac)
            device.rules = replace(wanted, is_paused=wanted.is_paused or name in wanted.paused_lanes)
            if not device.site:
                continue
            site = lane.open(device.site, now)
            if device.active > 0:
                site.phi += device.weight - device.active
                device.active = device.weight
            lane.reseat(site, device, now)

    def set_site(self, site: str, *, weight: float) -> None:
        """Change the share of a site, at once."""
        for lane in self._lanes.values():
            found = lane.open(site, self._clock.now_ms())
            if found.phi > 0:
                lane.phi += weight - found.weight
            found.set_weight = weight
            lane.seat_site(found, found.first())

    def set_estimates(self, lane: Lane, costs_ms: dict[str, int]) -> None:
        """Let the lane believe that tasks of these size classes cost so many worker-ms; each end teaches it anew."""
        self._lanes[lane].estimates = {size_class: float(cost) for size_class, cost in costs_ms.items()}
