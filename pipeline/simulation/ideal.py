"""What the measured is compared with: the weighted max-min shares, and one plain FIFO."""

import heapq
from collections.abc import Mapping

from pipeline.simulation.events import Run


def max_min(demand: Mapping[str, float], weight: Mapping[str, float], capacity: float) -> dict[str, float]:
    """Share out `capacity`: nobody gets more than asked, and what one leaves goes to the others by weight."""
    shares: dict[str, float] = {}
    open_names = sorted(demand, key=lambda name: demand[name] / weight[name])
    left, weights = capacity, sum(weight[name] for name in open_names)
    for name in open_names:
        shares[name] = min(demand[name], left * weight[name] / weights)
        left -= shares[name]
        weights -= weight[name]
    return shares


def fifo_makespan_ms(runs: list[Run], slots: int) -> int:
    """Return when the last task ends if all are served in the order of their submits, ms since the start."""
    free = [0] * slots
    for run in sorted(runs, key=lambda run: run.submitted_ms):
        heapq.heapreplace(free, max(free[0], run.submitted_ms) + run.cost_ms)
    return max(free)
