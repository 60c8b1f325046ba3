"""What is measured on a trace: one function per measure, each a number in the unit its name says.

Work is what a device really got: slot time, counted while a task runs, not what it was charged at the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.simulation.events import Run, Trace
from pipeline.simulation.ideal import fifo_makespan_ms, max_min
from pipeline.simulation.scenario import Bound, Group, Measure

Series = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """The part of a trace that one bound is about."""

    trace: Trace
    bound: Bound

    @property
    def groups(self) -> dict[str, Group]:
        chosen = self.bound.groups
        return {group.name: group for group in self.trace.scenario.groups if not chosen or group.name in chosen}

    @property
    def from_ms(self) -> int:
        return round(self.bound.from_s * 1000)

    @property
    def to_ms(self) -> int:
        return self.trace.end_ms if self.bound.to_s is None else round(self.bound.to_s * 1000)

    @cached_property
    def runs(self) -> list[Run]:
        """Those of the groups, whenever they were."""
        groups = self.groups
        return [run for run in self.trace.runs if run.group in groups]

    @cached_property
    def by_device(self) -> dict[str, list[Run]]:
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            found.setdefault(run.mac, []).append(run)
        return found

    @cached_property
    def weights(self) -> dict[str, float]:
        return {mac: self.groups[runs[0].group].weight for mac, runs in self.by_device.items()}

    def submitted(self) -> list[Run]:
        return [run for run in self.runs if self.from_ms <= run.submitted_ms < self.to_ms]


def waits_s(runs: Sequence[Run], end_ms: int) -> Series:
    """Return how long each waited; one that never started has waited until the end."""
    begins = [end_ms if run.started_ms is None else run.started_ms for run in runs]
    return np.array([begin - run.submitted_ms for begin, run in zip(begins, runs, strict=True)], float) / 1000


def work_ms(runs: Sequence[Run], from_ms: float, to_ms: float) -> float:
    """Return the slot time that the runs had between two times."""
    return sum(
        max(0.0, min(to_ms, run.started_ms + run.cost_ms) - max(from_ms, run.started_ms))
        for run in runs
        if run.started_ms is not None
    )


def work_over_time(runs: Sequence[Run], times: Series) -> Series:
    """Return the slot time that the runs had had by each of the times, ms."""
    begun = np.array([run.started_ms for run in runs if run.started_ms is not None], float)
    ended = begun + np.array([run.cost_ms for run in runs if run.started_ms is not None], float)
    begun, ended = np.sort(begun), np.sort(ended)
    return _elapsed_since(begun, times) - _elapsed_since(ended, times)


def _elapsed_since(sorted_ms: Series, times: Series) -> Series:
    sums = np.concatenate(([0.0], np.cumsum(sorted_ms)))
    past = np.searchsorted(sorted_ms, times, side="right")
    elapsed: Series = past * times - sums[past]
    return elapsed


def jain(values: Series) -> float:
    """Return Jain's index: 1 when all have the same, 1/n when one has everything."""
    squares = float(len(values) * np.sum(values**2))
    return float(np.sum(values) ** 2) / squares if squares else 1.0


def windows_ms(view: View) -> list[tuple[float, float]]:
    """Return the windows of a bound; a rest shorter than one is left out."""
    if view.bound.window_s is None:
        return [(view.from_ms, view.to_ms)]
    length = view.bound.window_s * 1000
    count = max(1, int((view.to_ms - view.from_ms) // length))
    return [(view.from_ms + index * length, view.from_ms + (index + 1) * length) for index in range(count)]


def _quantile(share: float) -> Callable[[View], float]:
    def measure(view: View) -> float:
        waits = waits_s(view.submitted(), view.trace.end_ms)
        # The value of one of the tasks, never one in between.
        return float(np.quantile(waits, share, method="inverted_cdf")) if len(waits) else 0.0

    return measure


def _wait_beyond_residual(view: View) -> float:
    """The longest wait after the first slot that came free."""
    freed = np.sort(np.array([run.ended_ms for run in view.trace.runs if run.ended_ms is not None], float))
    longest = 0.0
    for run in view.submitted():
        index = int(np.searchsorted(freed, run.submitted_ms))
        first_freed = freed[index] if index < len(freed) else view.trace.end_ms
        begun = view.trace.end_ms if run.started_ms is None else run.started_ms
        longest = max(longest, begun - float(first_freed))
    return longest / 1000


def _wait_rounds(view: View) -> float:
    """The longest wait against N * cmax / W + cmax, N the devices of the other groups."""
    scenario = view.trace.scenario
    others = [group for group in scenario.groups if group.name not in view.bound.groups]
    cost_s = max(group.costs_ms[1] for group in scenario.groups) / 1000
    round_s = sum(group.devices for group in others) * cost_s / scenario.slots + cost_s
    return _quantile(1.0)(view) / round_s


def _share(view: View) -> float:
    """What the groups had of all the work; of several windows the one that is worst for the bound."""
    pick = max if view.bound.at_most is not None else min
    return pick(
        work_ms(view.runs, begin, end) / max(1.0, work_ms(view.trace.runs, begin, end))
        for begin, end in windows_ms(view)
    )


def ideal_work_ms(view: View) -> dict[str, float]:
    """Return what each device of the scenario should have had: max-min over sites, then over the devices of each."""
    everybody = View(view.trace, Bound("", "share", from_s=view.bound.from_s, to_s=view.bound.to_s))
    demand: dict[str, dict[str, float]] = {}
    for mac, runs in everybody.by_device.items():
        group = everybody.groups[runs[0].group]
        asked = sum(run.cost_ms for run in runs if run.submitted_ms < view.to_ms) - work_ms(runs, 0, view.from_ms)
        if group.arrival.kind == "top_up":
            asked = float("inf")
        if group.max_inflight:
            asked = min(asked, group.max_inflight * (view.to_ms - view.from_ms))
        demand.setdefault(group.site_of(mac), {})[mac] = asked
    site_weights = {site: view.trace.scenario.site_weights.get(site, 1.0) for site in demand}
    wanted = {site: sum(devices.values()) for site, devices in demand.items()}
    sites = max_min(wanted, site_weights, work_ms(view.trace.runs, view.from_ms, view.to_ms))
    ideal: dict[str, float] = {}
    for site, devices in demand.items():
        ideal |= max_min(devices, everybody.weights, sites[site])
    return ideal


def _share_error(view: View) -> float:
    """How far a device is from its max-min share, of that share; the worst device counts."""
    ideal = ideal_work_ms(view)
    return max(
        abs(work_ms(runs, view.from_ms, view.to_ms) - ideal[mac]) / max(1.0, ideal[mac])
        for mac, runs in view.by_device.items()
    )


def _jain(view: View) -> float:
    """Of work per weight; of several windows the worst."""
    return min(
        jain(np.array([work_ms(runs, begin, end) / view.weights[mac] for mac, runs in view.by_device.items()]))
        for begin, end in windows_ms(view)
    )


def _gap(view: View) -> float:
    """The largest abs(Wi/wi - Wj/wj) / (ci/wi + cj/wj) of two devices over any stretch of time in between."""
    edges = {float(t) for run in view.runs if run.started_ms is not None for t in (run.started_ms, run.ended_ms or 0)}
    times = np.array(sorted(t for t in edges | {view.from_ms, view.to_ms} if view.from_ms <= t <= view.to_ms))
    devices = list(view.by_device.items())
    got = [work_over_time(runs, times) / view.weights[mac] for mac, runs in devices]
    dearest = [max(run.cost_ms for run in runs) / view.weights[mac] for mac, runs in devices]
    # The range of a difference is the most it moves between any two times.
    return max(
        float(np.ptp(got[i] - got[j])) / (dearest[i] + dearest[j])
        for i in range(len(devices))
        for j in range(i + 1, len(devices))
    )


def _makespan_over_fifo(view: View) -> float:
    ends = [view.trace.end_ms if run.ended_ms is None else run.ended_ms for run in view.trace.runs]
    return (max(ends) - fifo_makespan_ms(view.trace.runs, view.trace.scenario.slots)) / 1000


def _idle_while_waiting(view: View) -> float:
    return view.trace.idle_while_waiting_ms / 1000


def wait_slope_s(points: Sequence[tuple[int, View]]) -> float:
    """Return how the longest wait grows with each task of backlog: the steepest fit.

    Args:
        points: backlog per device, and the run; only runs with as many devices are compared.
    """
    by_width: dict[int, list[tuple[int, float]]] = {}
    for depth, view in points:
        width = sum(group.devices for group in view.trace.scenario.groups)
        by_width.setdefault(width, []).append((depth, _quantile(1.0)(view)))
    slopes = [np.polyfit([row[0] for row in rows], [row[1] for row in rows], 1)[0] for rows in by_width.values()]
    return float(max(slopes, key=abs))


MEASURES: dict[Measure, Callable[[View], float]] = {
    "wait_p50_s": _quantile(0.5),
    "wait_p95_s": _quantile(0.95),
    "wait_p99_s": _quantile(0.99),
    "wait_max_s": _quantile(1.0),
    "wait_beyond_residual_s": _wait_beyond_residual,
    "wait_rounds": _wait_rounds,
    "share": _share,
    "share_error": _share_error,
    "jain": _jain,
    "gap": _gap,
    "makespan_over_fifo_s": _makespan_over_fifo,
    "idle_while_waiting_s": _idle_while_waiting,
}
