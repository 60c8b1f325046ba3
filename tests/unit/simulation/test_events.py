"""The event loop, on the model: who comes when, and what is recorded."""

from pipeline.queue import Rules
from pipeline.simulation.events import Simulation, Trace, VirtualClock
from pipeline.simulation.model import ModelQueue
from pipeline.simulation.run import on_model, play
from pipeline.simulation.scenario import Arrival, Bound, Change, Group, Scenario

BOUND = (Bound("q", "share", at_most=1.0),)


def played(*groups: Group, slots: int = 1, seconds: float = 10, **rest: object) -> Trace:
    return play(Scenario("t", "w", groups, BOUND, slots, seconds, **rest), "fair", on_model)  # type: ignore[arg-type]


def test_a_burst_comes_at_once_and_is_served_until_nothing_is_left() -> None:
    trace = played(Group("g", Arrival("burst", tasks=3), cost_ms=500), slots=2, seconds=100)

    assert [(run.started_ms, run.ended_ms) for run in trace.runs] == [(0, 500), (0, 500), (500, 1000)]
    assert trace.end_ms == 1000


def test_a_burst_with_a_period_comes_again() -> None:
    trace = played(Group("g", Arrival("burst", tasks=2, period_s=4, from_s=1)))

    assert [run.submitted_ms for run in trace.runs] == [1000, 1000, 5000, 5000, 9000, 9000]


def test_a_line_that_is_topped_up_stays_as_deep() -> None:
    trace = played(Group("g", Arrival("top_up", backlog=2)))

    # The two it began with, and one for each that was begun: at 0, 1, .. 10 s.
    assert len(trace.runs) == 2 + 11
    assert trace.end_ms == 10_000


def test_steady_tasks_are_spread_over_devices_and_time() -> None:
    trace = played(Group("g", Arrival("steady", period_s=4), devices=4, cost_ms=1), slots=4, seconds=8)

    assert [run.submitted_ms // 1000 for run in trace.runs] == list(range(8))
    assert len({run.mac for run in trace.runs[:4]}) == 4


def test_minted_tasks_come_from_ever_new_devices() -> None:
    trace = played(Group("g", Arrival("steady", period_s=1, mints=True), cost_ms=1))

    assert len({run.mac for run in trace.runs}) == len(trace.runs) == 10


def test_the_same_seed_gives_the_same_trace() -> None:
    group = Group("g", Arrival("steady", period_s=1), cost_ms=(1, 900))

    assert played(group).runs == played(group).runs
    assert played(group).runs != played(group, seed=2).runs


def test_a_change_acts_from_its_time_on() -> None:
    group = Group("g", Arrival("top_up", backlog=4), max_inflight=1)
    trace = played(group, slots=2, seconds=8, changes=(Change(4, "g"),))

    begun = [run.started_ms for run in trace.runs if run.started_ms is not None]

    assert [begun.count(second * 1000) for second in range(8)] == [1, 1, 1, 1, 2, 2, 2, 2]
    # Before the change a slot was idle though the line was not empty: the cap kept it out.
    assert trace.idle_while_waiting_ms == 4000


def test_estimates_are_kept_wrong() -> None:
    group = Group("g", Arrival("burst", tasks=2), size_class=5)
    scenario = Scenario("t", "w", (group,), BOUND, 1, 10.0, estimates_ms={"5": 100_000})
    clock = VirtualClock()
    queue = ModelQueue(Rules(), clock)

    Simulation(scenario, queue, clock).play()

    assert queue._lanes["ocr"].estimates == {"5": 100_000}
