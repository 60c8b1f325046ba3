"""Search for many patterns in one pass; the only code that knows the engine."""

from collections.abc import Sequence

import daachorse


class Automaton:
    """Finds patterns in a text; immutable, so any number of threads may search at once.

    Args:
        patterns: none empty, none twice, no lone surrogates; there may be none at all.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._engine = daachorse.CharwiseDoubleArrayAhoCorasick(
            list(patterns), match_kind=daachorse.MATCH_KIND_LEFTMOST_LONGEST
        )

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return (start, end, index of the pattern) of each match, in code points, left to right, none overlapping.

        Of the patterns that begin first the longest wins.
        """
        found: list[tuple[int, int, int]] = self._engine.find(text)
        return found
