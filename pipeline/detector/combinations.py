"""Find words that mean something together: all of them, in any order, none far from the next."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.detector.compiled import Mates
from pipeline.detector.lexicon import Found
from pipeline.detector.rules import Combination


class Together(NamedTuple):
    """A combination where it stands; its words from left to right."""

    combination: Combination
    words: tuple[Found, ...]


def combined(mates: Mates, finds: Sequence[Found]) -> Iterator[Together]:
    """Give each place where all wanted words stand together, left to right, none sharing a word with the one before.

    Args:
        finds: of these words, sorted by their start.
    """
    chain: list[Found] = []
    missing = set(mates.words)
    for find in finds:
        if chain and find.start - chain[-1].end > mates.combination.within:
            chain, missing = [], set(mates.words)
        chain.append(find)
        missing.discard(find.entry.number)
        if not missing:
            yield Together(mates.combination, tuple(_shortest(chain, mates.words)))
            chain, missing = [], set(mates.words)


def _shortest(chain: Sequence[Found], wanted: frozenset[int]) -> list[Found]:
    """The end of a chain that just holds all that is wanted."""
    missing = set(wanted)
    for index in range(len(chain) - 1, -1, -1):
        missing.discard(chain[index].entry.number)
        if not missing:
            return list(chain[index:])
    return list(chain)
