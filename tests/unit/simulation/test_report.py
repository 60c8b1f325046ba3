"""Reports: every bound beside what was measured."""

import json

import pytest
from rich.console import Console

from pipeline.simulation.live.outcome import LiveBound, LiveOutcome
from pipeline.simulation.order import Policy
from pipeline.simulation.report import as_data, bounds_table, limit_of, summary
from pipeline.simulation.run import Outcome, on_model, run_scenario
from pipeline.simulation.scenario import Bound, load_scenario


def outcome_under(policy: Policy) -> Outcome:
    return run_scenario("flood_closed", load_scenario("flood_closed"), policy, "model", on_model)


@pytest.mark.parametrize(
    ("bound", "limit"),
    [
        (Bound("q", "wait_max_s", at_most=1.1), "<= 1.1 s"),
        (Bound("q", "jain", at_least=0.99), ">= 0.99"),
        (Bound("q", "share", at_least=0.49, at_most=0.51), "0.49 .. 0.51"),
    ],
)
def test_a_limit_is_spelled_with_its_unit(bound: Bound, limit: str) -> None:
    assert limit_of(bound) == limit


@pytest.mark.parametrize(("policy", "word"), [("fair", "ok"), ("aging", "FAILED (expected under aging)")])
def test_the_table_gives_each_bound_its_verdict(policy: Policy, word: str) -> None:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(bounds_table([outcome_under(policy)]))

    row = next(line for line in captured.get().splitlines() if "max <= 1.1 s" in line)
    assert row.rstrip().endswith(word)


def test_the_summary_names_what_is_broken() -> None:
    assert summary([outcome_under("fair")]) == "4 of 4 bounds kept in 1 scenarios"
    assert summary([outcome_under("aging")]).endswith("; broken in flood_closed")


def test_the_data_is_json() -> None:
    data = json.loads(json.dumps(as_data(outcome_under("fair"))))

    assert data["is_kept"] is True
    assert {"quantity", "measured", "is_kept"} <= set(data["bounds"][0])


def live_outcome(measured: float) -> LiveOutcome:
    bound = LiveBound("enqueue, one Redis core", "script_ratio", "bare commands", 2.0, measured, " x", "218 / 103 µs")
    return LiveOutcome("live bare cost", "title", (bound,), samples=1)


@pytest.mark.parametrize(("measured", "word"), [(2.0, "ok"), (2.1, "FAILED")])
def test_a_live_bound_stands_in_the_same_table_with_its_verdict(measured: float, word: str) -> None:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(bounds_table([outcome_under("fair")], [live_outcome(measured)]))

    row = next(line for line in captured.get().splitlines() if "one Redis core" in line)
    assert row.split("  ")[0] == "live bare cost"
    assert f"{measured:.4g} x (218 / 103 µs)" in row
    assert row.rstrip().endswith(word)


def test_the_summary_counts_what_was_measured_in_real_time() -> None:
    kept, broken = live_outcome(1.0), live_outcome(3.0)
    assert summary([], [kept]) == "1 of 1 bounds kept in real time"
    assert summary([outcome_under("fair")], [kept, broken]) == (
        "4 of 4 bounds kept in 1 scenarios, 1 of 2 bounds kept in real time; broken in live bare cost"
    )


def test_live_data_has_the_layout_of_scenarios() -> None:
    scenario, live = as_data(outcome_under("fair")), live_outcome(1.0).as_data("fair")

    assert set(live) == set(scenario)
    assert set(live["bounds"][0]) == set(scenario["bounds"][0])
