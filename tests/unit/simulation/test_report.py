"""Reports: every bound beside what was measured."""

import json

import pytest
from rich.console import Console

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
