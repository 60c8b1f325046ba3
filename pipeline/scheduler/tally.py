"""Duty: what has ended is counted, once, for the statistics."""

from models.statistics import Statistics

#: Batches of one round; with a round every 5 s some thousand tasks a second are kept up with.
_BATCHES_A_ROUND = 40


def tally(statistics: Statistics) -> None:
    """Count what has ended since the last round; a part of it when it is very much."""
    for _ in range(_BATCHES_A_ROUND):
        if not statistics.count():
            return
