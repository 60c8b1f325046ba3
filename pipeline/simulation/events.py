"""The event loop: tasks come, slots serve them and end, on a clock that jumps from event to event."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from pipeline.queue.types import Claim, DeviceRules, Enqueued, Lane, Task
from pipeline.simulation.scenario import Change, Group, Scenario

#: Where the virtual clock begins, epoch ms; the queue takes 0 for `never`.
_EPOCH_MS = 1_760_000_000_000
#: How often a lease is renewed, ms, as a worker does by default.
_RENEW_MS = 10_000


class VirtualClock:
    """Both clocks of a machine; they stand until an event moves them."""

    def __init__(self) -> None:
        self.elapsed_ms = 0

    def now_ms(self) -> int:
        return _EPOCH_MS + self.elapsed_ms

    def monotonic_ms(self) -> int:
        return self.elapsed_ms

    def thread_us(self) -> int:
        return self.elapsed_ms * 1_000


class Queue(Protocol):
    """What is driven: `FairQueue` on a server, or the model in memory."""

    def enqueue(self, task: Task) -> Enqueued: ...
    def claim(self, lane: Lane, *, limit: int = 1) -> list[Claim]: ...
    def complete(self, task_id: str, token: int, *, cost_ms: int) -> None: ...
    def renew(self, task_id: str, token: int) -> int: ...
    def set_device(self, mac: str, wanted: DeviceRules) -> None: ...
    def set_site(self, site: str, *, weight: float) -> None: ...
    def set_estimates(self, lane: Lane, costs_ms: dict[str, int]) -> None: ...


@dataclass(slots=True)
class Run:
    """One task from submit to end; times in ms since the start, None while it has not come to that."""

    group: str
    mac: str
    submitted_ms: int
    cost_ms: int
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(slots=True)
class Trace:
    """Everything that happened.

    Args:
        end_ms: when it ended, ms since the start.
        idle_while_waiting_ms: slot-ms in which a slot had nothing to do though a task waited.
    """

    scenario: Scenario
    runs: list[Run] = field(default_factory=list)
    end_ms: int = 0
    idle_while_waiting_ms: int = 0


class Simulation:
    """One scenario on one queue."""

    def __init__(self, scenario: Scenario, queue: Queue, clock: VirtualClock) -> None:
        self._scenario = scenario
        self._queue = queue
        self._clock = clock
        self._random = random.Random(scenario.seed)  # noqa: S311 (a seed makes runs repeatable; nothing is secret)
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._groups = {group.name: group for group in scenario.groups}
        self._macs = {group.name: _macs(index, group) for index, group in enumerate(scenario.groups)}
        self._rules = {
            group.name: DeviceRules(weight=_unless_usual(group.weight), max_inflight=group.max_inflight)
            for group in scenario.groups
        }
        self._free = scenario.slots
        self._waiting = 0
        self._trace = Trace(scenario)

    def play(self) -> Trace:
        """Let everything happen, and return it."""
        self._prepare()
        while self._events and self._events[0][0] <= self._scenario.end_ms:
            self._jump_to(self._events[0][0])
            # Whatever happens in the same millisecond has happened before a free slot asks for work.
            while self._events and self._events[0][0] == self._clock.elapsed_ms:
                heapq.heappop(self._events)[2]()
            self._dispatch()
        self._trace.end_ms = self._clock.elapsed_ms
        if self._events:
            self._jump_to(self._scenario.end_ms)
            self._trace.end_ms = self._scenario.end_ms
        return self._trace

    def _prepare(self) -> None:
        self._pin_estimates()
        for site, weight in self._scenario.site_weights.items():
            self._queue.set_site(site, weight=weight)
        for name in self._groups:
            self._set_rules(name)
        for change in self._scenario.changes:
            self._at(round(change.at_s * 1000), self._changing(change))
        for group in self._scenario.groups:
            self._plan(group)

    def _at(self, time_ms: int, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time_ms, next(self._order), happens))

    def _jump_to(self, time_ms: int) -> None:
        if self._waiting:
            self._trace.idle_while_waiting_ms += self._free * (time_ms - self._clock.elapsed_ms)
        self._clock.elapsed_ms = time_ms

    def _set_rules(self, name: str) -> None:
        if self._rules[name] != DeviceRules():
            for mac in self._macs[name]:
                self._queue.set_device(mac, self._rules[name])

    def _changing(self, change: Change) -> Callable[[], None]:
        def happens() -> None:
            rules = DeviceRules(_unless_usual(change.weight), change.max_inflight, is_paused=change.is_paused)
            self._rules[change.group] = rules
            for mac in self._macs[change.group]:
                self._queue.set_device(mac, rules)

        return happens

    def _pin_estimates(self) -> None:
        if self._scenario.estimates_ms:
            self._queue.set_estimates(self._scenario.lane, self._scenario.estimates_ms)

    # Who submits when.

    def _plan(self, group: Group) -> None:
        arrival = group.arrival
        begin_ms = round(arrival.from_s * 1000)
        end_ms = self._scenario.end_ms if arrival.to_s is None else round(arrival.to_s * 1000)
        macs = self._macs[group.name]
        if arrival.kind == "steady":
            self._plan_steady(group, begin_ms, end_ms)
            return
        tasks = arrival.tasks if arrival.kind == "burst" else arrival.backlog
        period_ms = round((arrival.period_s or 0) * 1000) if arrival.kind == "burst" else 0
        for time_ms in range(begin_ms, end_ms, period_ms) if period_ms else (begin_ms,):
            for mac in macs * tasks:
                self._at(time_ms, self._submitting(group, mac))

    def _plan_steady(self, group: Group, begin_ms: int, end_ms: int) -> None:
        step_ms = (group.arrival.period_s or 0) * 1000 / group.devices
        macs = list(self._macs[group.name])
        for index in range(int((end_ms - begin_ms) / step_ms)):
            if index % group.devices == 0:
                self._random.shuffle(macs)
            mac = f"5e{index:010x}" if group.arrival.mints else macs[index % group.devices]
            time_ms = begin_ms + int((index + self._random.random()) * step_ms)
            self._at(time_ms, self._submitting(group, mac))

    def _submitting(self, group: Group, mac: str) -> Callable[[], None]:
        return lambda: self._submit(group, mac)

    def _submit(self, group: Group, mac: str) -> None:
        runs = self._trace.runs
        cost_ms = self._random.randint(*group.costs_ms)
        task_id = f"t{len(runs)}"
        runs.append(Run(group.name, mac, self._clock.elapsed_ms, cost_ms))
        site = group.site_of(mac)
        self._queue.enqueue(Task(task_id, self._scenario.lane, mac, self._clock.now_ms(), b"", site, group.size_class))
        self._waiting += 1

    # Who serves.

    def _dispatch(self) -> None:
        while self._free and self._waiting:
            limit = min(self._free, self._scenario.claim_limit)
            claims = self._queue.claim(self._scenario.lane, limit=limit)
            if not claims:
                return
            for claim in claims:
                self._begin(claim)

    def _begin(self, claim: Claim) -> None:
        now_ms = self._clock.elapsed_ms
        run = self._trace.runs[int(claim.task_id[1:])]
        run.started_ms = now_ms
        self._free -= 1
        self._waiting -= 1
        self._at(now_ms + run.cost_ms, lambda: self._end(run, claim))
        for time_ms in range(now_ms + _RENEW_MS, now_ms + run.cost_ms, _RENEW_MS):
            self._at(time_ms, lambda: self._renew(claim))
        group = self._groups[run.group]
        arrival = group.arrival
        is_over = arrival.to_s is not None and now_ms >= arrival.to_s * 1000
        if arrival.kind == "top_up" and not is_over:
            self._submit(group, run.mac)

    def _renew(self, claim: Claim) -> None:
        self._queue.renew(claim.task_id, claim.token)

    def _end(self, run: Run, claim: Claim) -> None:
        run.ended_ms = self._clock.elapsed_ms
        self._free += 1
        self._queue.complete(claim.task_id, claim.token, cost_ms=run.cost_ms)
        if self._scenario.estimates_ms:
            # The queue has just learnt better: make it forget, and score the device by the wrong estimate again.
            self._pin_estimates()
            self._queue.set_device(run.mac, self._rules[run.group])


def _unless_usual(weight: float) -> float | None:
    return None if weight == 1.0 else weight


def _macs(index: int, group: Group) -> list[str]:
    return [f"{index + 16:02x}{device:010x}" for device in range(group.devices)]
