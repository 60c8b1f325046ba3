"""Find words that mean something together: all of them, in any order, none far from the next."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.detector.lexicon import Entry, Found
from pipeline.detector.rules import Combination


class Together(NamedTuple):
    """A combination where it stands; its words from left to right."""

    combination: Combination
    words: tuple[Found, ...]


def combined(combination: Combination, wanted: frozenset[Entry], finds: Sequence[Found]) -> Iterator[Together]:
    """Give each place where all wanted words stand together, left to right, none sharing a word with the one before.

    Args:
        finds: sorted by their start.
    """
    chain: list[Found] = []
    missing = set(wanted)
    for find in finds:
        if find.entry not in wanted:
            continue
        if chain and find.start - chain[-1].end > combination.within:
            chain, missing = [], set(wanted)
        chain.append(find)
        missing.discard(find.entry)
        if not missing:
            yield Together(combination, tuple(_shortest(chain, wanted)))
            chain, missing = [], set(wanted)


def _shortest(chain: Sequence[Found], wanted: frozenset[Entry]) -> list[Found]:
    """The end of a chain that just holds all that is wanted."""
    missing = set(wanted)
    for index in range(len(chain) - 1, -1, -1):
        missing.discard(chain[index].entry)
        if not missing:
            return list(chain[index:])
    return list(chain)
