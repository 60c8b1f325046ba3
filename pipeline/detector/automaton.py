"""Search for many patterns in one pass; the only code that knows the engine."""

from collections.abc import Iterator, Sequence

import daachorse

#: Code points that are searched at once: bounds the memory that the matches of a text of one letter take.
_PIECE_CHARS = 8_192

Match = tuple[int, int, int]


class Automaton:
    """Finds patterns in a text; immutable, so any number of threads may search at once.

    Args:
        patterns: none empty, none twice, no lone surrogates; there may be none at all.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._engine = daachorse.CharwiseDoubleArrayAhoCorasick(list(patterns))
        self._longest = max(map(len, patterns), default=0)

    def find(self, text: str) -> list[Match]:
        """Return (start, end, index of the pattern) of every match, those inside others too, in code points.

        They come in the order of their ends; of those of one end the longest is first.
        """
        if len(text) <= _PIECE_CHARS:
            found: list[Match] = self._engine.find_overlapping(text)
            return found
        return list(self._find_in_pieces(text))

    def _find_in_pieces(self, text: str) -> Iterator[Match]:
        for begin in range(0, len(text), _PIECE_CHARS):
            # A match may have begun before the piece in which it ends.
            from_ = max(0, begin - self._longest + 1)
            for start, end, index in self._engine.find_overlapping(text[from_ : begin + _PIECE_CHARS]):
                if from_ + end > begin:
                    yield from_ + start, from_ + end, index
