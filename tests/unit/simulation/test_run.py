"""run_scenario: bounds against what was measured."""

import pytest

from pipeline.simulation.run import Verdict, on_model, run_scenario
from pipeline.simulation.scenario import Bound, load_scenario


@pytest.mark.parametrize(
    ("at_least", "at_most", "measured", "is_kept"),
    [
        (None, 1.0, 1.0, True),
        (None, 1.0, 1.1, False),
        (0.5, None, 0.5, True),
        (0.5, None, 0.4, False),
        (0.4, 0.5, 0.45, True),
        (0.4, 0.5, 0.39, False),
        (None, 1.0, float("nan"), False),
    ],
)
def test_a_bound_is_kept_up_to_its_limit(
    at_least: float | None, at_most: float | None, measured: float, is_kept: bool
) -> None:
    bound = Bound("q", "share", at_least=at_least, at_most=at_most)

    assert Verdict(bound, measured, "").is_kept == is_kept


def test_the_policy_fair_keeps_what_aging_breaks() -> None:
    scenario = load_scenario("flood_closed")

    fair = run_scenario("flood_closed", scenario, "fair", "model", on_model)
    aging = run_scenario("flood_closed", scenario, "aging", "model", on_model)

    assert fair.is_kept
    assert not aging.is_kept
    assert aging.is_expected_to_fail


def test_a_scenario_with_a_sweep_is_judged_by_its_worst_run() -> None:
    outcome = run_scenario("newcomer_ocr", load_scenario("newcomer_ocr"), "fair", "model", on_model)

    assert len(outcome.traces) == 6
    assert outcome.verdicts[0].label.startswith("flood: 1000 x ")
    assert outcome.is_kept
