"""max_min, fifo_makespan_ms: worked out by hand."""

import pytest

from pipeline.simulation.events import Run
from pipeline.simulation.ideal import fifo_makespan_ms, max_min

ONE = {"a": 1.0, "b": 1.0, "c": 1.0}


@pytest.mark.parametrize(
    ("demand", "weight", "capacity", "shares"),
    [
        ({"a": 9, "b": 9, "c": 9}, ONE, 9, {"a": 3, "b": 3, "c": 3}),
        ({"a": 1, "b": 9, "c": 9}, ONE, 9, {"a": 1, "b": 4, "c": 4}),
        ({"a": 9, "b": 9, "c": 9}, {"a": 1.0, "b": 1.0, "c": 4.0}, 12, {"a": 2, "b": 2, "c": 8}),
        ({"a": 1, "b": 1, "c": 1}, ONE, 9, {"a": 1, "b": 1, "c": 1}),
        ({"a": float("inf"), "b": 1, "c": float("inf")}, ONE, 9, {"a": 4, "b": 1, "c": 4}),
    ],
)
def test_nobody_gets_more_than_asked_and_the_rest_is_shared_by_weight(
    demand: dict[str, float], weight: dict[str, float], capacity: float, shares: dict[str, float]
) -> None:
    assert max_min(demand, weight, capacity) == pytest.approx(shares)


def test_a_fifo_fills_the_first_free_slot() -> None:
    runs = [Run("g", "m", submitted_ms, cost_ms) for submitted_ms, cost_ms in ((0, 10), (0, 4), (0, 5), (30, 1))]

    assert fifo_makespan_ms(runs, 2) == 31
    assert fifo_makespan_ms(runs[:3], 2) == 10
