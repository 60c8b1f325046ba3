"""Fold away width and case, and remember where every character came from."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

#: Ranges that folding leaves as they are, so that the table is built from 150,000 code points and not from 1,100,000:
#: ideographs, Hangul syllables, private use, and what lies above the last assigned compatibility ideograph.
#: A test compares the table with the definition over all of Unicode.
_UNTOUCHED = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xE000, 0xF900), (0x20000, 0x2F800), (0x2FA20, 0x110000))
_SURROGATES = range(0xD800, 0xE000)
#: What a lone surrogate becomes, which no automaton takes: a code point that is no character and is in no word.
_NO_CHARACTER = "\uffff"


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Args:
        text: the folded characters.
        origins: for each of them the index of its original character; None when that is its own index.
    """

    text: str
    origins: list[int] | None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that `[start, end)` of the folded text, not empty, came from."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1


def fold(text: str) -> Folded:
    """Fold each code point by NFKC, then to lower case; one may become several (`㍿`, `ﬁ`)."""
    table = _table()
    folded = text.translate(table)
    if len(folded) == len(text):  # no code point becomes none, so each of them became exactly one
        return Folded(folded, None)
    origins = [index for index, char in enumerate(text) for _ in table.get(ord(char), char)]
    return Folded(folded, origins)


def holds_no_character(text: Folded) -> bool:
    """Say whether a folded text holds a lone surrogate, as broken JSON escapes make, or U+FFFF."""
    return _NO_CHARACTER in text.text


@cache
def _table() -> dict[int, str]:
    return dict(_folds())


def _folds() -> Iterator[tuple[int, str]]:
    start = 0
    for gap_start, gap_end in (*_UNTOUCHED, (0x110000, 0x110000)):
        for code_point in range(start, gap_start):
            folded = _fold_one(code_point)
            if folded != chr(code_point):
                yield code_point, folded
        start = gap_end


def _fold_one(code_point: int) -> str:
    if code_point in _SURROGATES:
        return _NO_CHARACTER
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", chr(code_point)).casefold())
