"""Duty: what has ended is counted, once, for the statistics and for `/metrics`."""

from models.statistics import Statistics
from models.totals import Totals

#: Batches of one round; with a round every 5 s some thousand tasks a second are kept up with.
_BATCHES_A_ROUND = 40


def tally(statistics: Statistics, totals: Totals) -> None:
    """Count what has ended since the last round; a part of it when it is very much."""
    for count in (statistics.count, totals.count_deliveries):
        for _ in range(_BATCHES_A_ROUND):
            if not count():
                break
