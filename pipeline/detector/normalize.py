"""Fold away what hides words, and remember where every character came from.

Three views of one text: `text` without noise, `stretched` with runs of one character made one, and the characters as
they were, in which each candidate is verified (`verify.py`).
"""

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import EXPANDED, NO_CHARACTER, Kind, characters

_HYPHENS = frozenset(map(ord, "-\u00ad\u2010\u2011\uff0d"))
_LATIN = frozenset((Kind.LETTER, Kind.LOOK_ALIKE))


class Stretched(NamedTuple):
    """A text with runs of one character made one.

    Args:
        bounds: where in `Folded.text` each run begins, and the end. **Shape** (length of `text` + 1,).
    """

    text: str
    bounds: NDArray[np.intp]


class Folded:
    """A folded text.

    Args:
        original: any string, lone surrogates included.
        joins: places of line breaks over which a word may go on.

    `text` is made of the folded characters, noise left out; `kept` are its code points.
    """

    __slots__ = ("__dict__", "_codes", "_folded", "_joins", "_places", "kept", "text")

    def __init__(self, original: str, joins: Collection[int] = ()) -> None:
        self._joins = joins
        self._codes: NDArray[np.uint32] = np.frombuffer(original.encode("utf-32-le", "surrogatepass"), np.uint32)
        self._folded: NDArray[np.uint32] = characters().fold.take(self._codes)
        self._places: NDArray[np.intp] | None = None
        if self._folded.size and self._folded.max() >= EXPANDED:
            self._expand()
        self.kept: NDArray[np.uint32] = self._folded.compress(self._folded)
        self.text = _string(self.kept)

    def _expand(self) -> None:
        # One code point in a thousand is such: the whole text is done one by one only when there is one.
        expansions = characters().expansions
        folded: list[int] = []
        places: list[int] = []
        for place, code in enumerate(self._folded.tolist()):
            several = expansions[code - EXPANDED] if code >= EXPANDED else (code,)
            if code:
                folded += several
                places += [place] * len(several)
        self._folded = np.array(folded, dtype=np.uint32)
        self._places = np.array(places, dtype=np.intp)

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The code points of the original text. **Shape** (its length,)."""
        return self._codes

    @property
    def places(self) -> NDArray[np.intp]:
        """For each character of `text` the index of its original character. **Shape** (length of `text`,)."""
        if self._places is None:
            self._places = np.flatnonzero(self._folded)
        return self._places

    @cached_property
    def kinds(self) -> bytes:
        """Values of `Kind`, one for each original character."""
        kinds = characters().kind.take(self._codes).tobytes()
        return _joined(kinds, self._joins, self._codes) if self._joins else kinds

    @cached_property
    def stretched(self) -> Stretched | None:
        """The view with runs made one; None when no run is worth a look: none of three, no two of two side by side."""
        same = self.kept[1:] == self.kept[:-1]
        if not ((same[1:] & same[:-1]).any() or (same[2:] & same[:-2]).any()):
            return None
        starts = np.concatenate(([0], np.flatnonzero(~same) + 1))
        return Stretched(_string(self.kept[starts]), np.append(starts, len(self.kept)))

    @cached_property
    def plain(self) -> str:
        """The original character by character in width and small letters, noise and all: places are the same."""
        return _string(characters().plain.take(self._codes))

    @cached_property
    def units(self) -> NDArray[np.intp] | None:
        """UTF-16 units before each original character and at the end; None when they are as many as code points."""
        if not self._codes.size or self._codes.max() < 0x10000:
            return None
        return np.concatenate(([0], np.cumsum((self._codes > 0xFFFF) + 1)))

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that `[start, end)` of `text`, not empty, came from."""
        return int(self.places[start]), int(self.places[end - 1]) + 1


def fold(text: str) -> Folded:
    """Fold each code point: width, case, marks, circles and squares, digit forms, traditional forms, look-alikes."""
    return Folded(text)


def holds_no_character(text: Folded) -> bool:
    """Say whether a folded text holds a lone surrogate, as broken JSON escapes make, or U+FFFF."""
    return NO_CHARACTER in text.text


def _string(codes: NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le")


def _joined(kinds: bytes, joins: Collection[int], codes: NDArray[np.uint32]) -> bytes:
    """Make breaks over which a word may go on unseen; between Latin letters only where a hyphen says so."""
    changed = bytearray(kinds)
    for place in joins:
        if not 0 < place < len(kinds) - 1:
            continue
        before, after = kinds[place - 1], kinds[place + 1]
        is_latin_after = after in _LATIN
        if is_latin_after and codes[place - 1] in _HYPHENS and place > 1 and kinds[place - 2] in _LATIN:
            changed[place - 1] = changed[place] = Kind.INVISIBLE
        else:
            changed[place] = Kind.SPACE if is_latin_after and before in _LATIN else Kind.INVISIBLE
    return bytes(changed)
