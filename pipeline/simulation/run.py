"""Run scenarios and hold what came out against their bounds."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.clock import SystemClock
from pipeline.queue.rules import Rules
from pipeline.simulation.events import Queue, Simulation, Trace, VirtualClock
from pipeline.simulation.measures import MEASURES, View, wait_slope_s
from pipeline.simulation.model import ModelQueue
from pipeline.simulation.order import Policy
from pipeline.simulation.scenario import Bound, Scenario
from pipeline.simulation.server import ScriptedQueue

#: Makes the queue of one run: nothing of an earlier one is in it.
OpenQueue = Callable[[Rules, VirtualClock], Queue]

#: How far rounding of sums of floats may carry a measure past its bound.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Verdict:
    """One bound and what was measured; `measured` is the worst over all runs of the scenario."""

    bound: Bound
    measured: float
    label: str

    @property
    def is_kept(self) -> bool:
        bound = self.bound
        is_low = bound.at_most is None or self.measured <= bound.at_most + _ROUNDING
        return is_low and (bound.at_least is None or self.measured >= bound.at_least - _ROUNDING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of one scenario.

    Args:
        traces: label of the run -> what happened.
        took_ms: real time.
    """

    name: str
    scenario: Scenario
    policy: Policy
    backend: str
    traces: dict[str, Trace]
    verdicts: tuple[Verdict, ...]
    took_ms: int

    @property
    def is_kept(self) -> bool:
        return all(verdict.is_kept for verdict in self.verdicts)

    @property
    def is_expected_to_fail(self) -> bool:
        return self.policy == "aging" and self.scenario.fails_under_aging


def on_model(rules: Rules, clock: VirtualClock) -> Queue:
    """Open the model in memory."""
    return ModelQueue(rules, clock)


def on_scripts(url: str) -> OpenQueue:
    """Return what opens the scripts on the server at `url`, which is emptied each time."""
    return lambda rules, clock: ScriptedQueue(url, rules, clock)


def run_scenario(name: str, scenario: Scenario, policy: Policy, backend: str, open_queue: OpenQueue) -> Outcome:
    """Run all variants of a scenario.

    Args:
        backend: what `open_queue` opens, for the report.
    """
    stopwatch = SystemClock()
    begun_ms = stopwatch.monotonic_ms()
    traces = {label: play(variant, policy, open_queue) for label, variant in scenario.variants()}
    verdicts = tuple(judge(bound, traces) for bound in scenario.bounds)
    return Outcome(name, scenario, policy, backend, traces, verdicts, stopwatch.monotonic_ms() - begun_ms)


def play(scenario: Scenario, policy: Policy, open_queue: OpenQueue) -> Trace:
    """Run one variant. No limit of admission applies, and no task is too old: only the order is looked at."""
    rules = Rules(policy=policy, max_total=10**9, max_per_mac=10**9, ttl_ms=10**12, dedupe_ms=1000)
    clock = VirtualClock()
    return Simulation(scenario, open_queue(rules, clock), clock).play()


def judge(bound: Bound, traces: dict[str, Trace]) -> Verdict:
    """Measure a bound on all runs of a scenario; the worst counts."""
    views = {label: View(trace, bound) for label, trace in traces.items()}
    if bound.measure == "wait_slope_s":
        points = [(max(group.arrival.backlog for group in v.trace.scenario.groups), v) for v in views.values()]
        return Verdict(bound, wait_slope_s(points), "")
    measured = [Verdict(bound, MEASURES[bound.measure](view), label) for label, view in views.items()]
    pick = max if bound.at_most is not None else min
    return pick(measured, key=lambda verdict: verdict.measured)
