"""The measures, each on a trace small enough to check by hand."""

from typing import Any

import numpy as np
import pytest

from pipeline.simulation.events import Run, Trace
from pipeline.simulation.measures import MEASURES, View, jain, wait_slope_s, work_over_time
from pipeline.simulation.scenario import Arrival, Bound, Group, Measure, Scenario


def trace_of(*runs: tuple[str, int, int, int], slots: int = 1, **groups: float) -> Trace:
    """Make a trace: each run is device, submitted, started, cost; devices are groups of one, with a weight."""
    names = dict.fromkeys(run[0] for run in runs)
    arrival = Arrival("burst", tasks=1)
    made = tuple(Group(name, arrival, weight=groups.get(name, 1.0), cost_ms=1000) for name in names)
    scenario = Scenario("t", "w", made, (Bound("q", "gap", at_most=1),), slots, 100.0)
    done = [Run(name, name, at, cost, begun, begun + cost) for name, at, begun, cost in runs]
    return Trace(scenario, done, max(run.ended_ms or 0 for run in done))


def measure(name: Measure, trace: Trace, **bound: Any) -> float:
    return MEASURES[name](View(trace, Bound("q", name, **{"at_most": 1.0, **bound})))


ALTERNATING = trace_of(("a", 0, 0, 1000), ("b", 0, 1000, 1000), ("a", 0, 2000, 1000), ("b", 0, 3000, 1000))
IN_A_ROW = trace_of(("a", 0, 0, 1000), ("a", 0, 1000, 1000), ("b", 0, 2000, 1000), ("b", 0, 3000, 1000))


@pytest.mark.parametrize(
    ("name", "wait_s"), [("wait_p50_s", 1), ("wait_p95_s", 3), ("wait_p99_s", 3), ("wait_max_s", 3)]
)
def test_a_quantile_of_the_waits_is_the_wait_of_a_task(name: Measure, wait_s: float) -> None:
    assert measure(name, ALTERNATING) == wait_s


def test_a_task_that_never_started_has_waited_until_the_end() -> None:
    trace = trace_of(("a", 0, 0, 4000), ("b", 500, 0, 1000))
    trace.runs[1].started_ms = trace.runs[1].ended_ms = None

    assert measure("wait_max_s", trace, groups=("b",)) == 3.5


def test_the_wait_beyond_the_first_slot_that_came_free_counts() -> None:
    assert measure("wait_beyond_residual_s", IN_A_ROW, groups=("b",)) == 2


def test_a_share_is_of_all_the_work_of_the_time_in_between() -> None:
    assert measure("share", IN_A_ROW, groups=("a",)) == 0.5
    assert measure("share", IN_A_ROW, groups=("a",), from_s=1, to_s=3) == 0.5
    assert measure("share", IN_A_ROW, groups=("a",), window_s=1) == 1.0


def test_the_share_error_is_against_max_min() -> None:
    assert measure("share_error", IN_A_ROW) == 0
    assert measure("share_error", IN_A_ROW, to_s=3) == pytest.approx(1 / 3)


def test_jains_index_is_of_work_per_weight_in_the_worst_window() -> None:
    assert measure("jain", IN_A_ROW) == 1
    assert measure("jain", IN_A_ROW, window_s=2) == 0.5
    weighted = trace_of(("a", 0, 0, 3000), ("b", 0, 3000, 1000), a=3.0)
    assert measure("jain", weighted) == 1
    assert jain(np.zeros(3)) == 1


def test_the_gap_is_over_the_worst_stretch_of_time() -> None:
    assert measure("gap", ALTERNATING) == 0.5
    assert measure("gap", IN_A_ROW) == 1.0


def test_rounds_count_one_task_of_everybody_else() -> None:
    assert measure("wait_rounds", IN_A_ROW, groups=("b",)) == 1.5


def test_the_makespan_is_compared_with_a_fifo() -> None:
    assert measure("makespan_over_fifo_s", IN_A_ROW) == 0
    assert measure("makespan_over_fifo_s", trace_of(("a", 0, 0, 1000), ("a", 0, 2500, 1000))) == 1.5


def test_idle_slots_are_counted_in_slot_seconds() -> None:
    trace = trace_of(("a", 0, 0, 1000))
    trace.idle_while_waiting_ms = 250

    assert measure("idle_while_waiting_s", trace) == 0.25


def test_work_over_time_is_what_had_been_got_by_then() -> None:
    work = work_over_time(ALTERNATING.runs[::2], np.array([0.0, 500.0, 1500.0, 2500.0, 4000.0]))

    assert work.tolist() == [0, 500, 1000, 1500, 2000]


def test_the_slope_compares_runs_of_as_many_devices() -> None:
    bound = Bound("q", "wait_slope_s", groups=("b",), at_most=0)
    short, long = trace_of(("a", 0, 0, 1000), ("b", 0, 1000, 1000)), IN_A_ROW

    assert wait_slope_s([(1, View(short, bound)), (5, View(long, bound))]) == pytest.approx(2 / 4)
