"""Fold away what hides words, and remember where every character came from.

Three views of one text: `text` without noise, `stretched` with runs of one character made one, and the characters as
they were, in which each candidate is verified (`verify.py`).
"""

import re
from codecs import utf_32_le_decode, utf_32_le_encode
from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import EXPANDED, NO_CHARACTER, Kind, characters

_HYPHENS = frozenset(map(ord, "-\u00ad\u2010\u2011\uff0d"))
_LATIN = frozenset((Kind.LETTER, Kind.LOOK_ALIKE))
#: Of characters that are as the one before: a run of three, two of two side by side.
_RUNS = re.compile(b"\1\0?\1")


class Unknown(Enum):
    """What stands for a view that nobody has asked for yet, where None says that there is none."""

    UNKNOWN = 0


UNKNOWN = Unknown.UNKNOWN


class Stretched(NamedTuple):
    """A text with runs of one character made one.

    Args:
        kept: its code points.
        bounds: where in `Folded.text` each run begins, and the end. **Shape** (length of `text` + 1,).
    """

    kept: NDArray[np.uint32]
    bounds: NDArray[np.intp]

    @property
    def text(self) -> str:
        return text_of(self.kept)


class Folded:
    """A folded text.

    Args:
        original: any string, lone surrogates included.
        joins: places of line breaks over which a word may go on.

    `text` is made of the folded characters, noise left out; `kept` are its code points.
    """

    __slots__ = ("_codes", "_folded", "_joins", "_kinds", "_places", "_plain", "_stretched", "_units", "kept", "text")

    def __init__(self, original: str, joins: Collection[int] = ()) -> None:
        self._joins = joins
        self._codes: NDArray[np.uint32] = np.frombuffer(utf_32_le_encode(original, "surrogatepass")[0], np.uint32)
        self._folded: NDArray[np.uint32] = characters().fold.take(self._codes)
        self.kept: NDArray[np.uint32] = self._folded.compress(self._folded)
        # PERF: what is worked out once has a slot; functools.cached_property takes a lock in CPython 3.11, 1 us each.
        self._places: NDArray[np.intp] | None = None
        self._kinds: bytes | None = None
        self._plain: str | None = None
        self._stretched: Stretched | Unknown | None = UNKNOWN
        self._units: NDArray[np.intp] | Unknown | None = UNKNOWN
        try:
            self.text = text_of(self.kept)
        except UnicodeDecodeError:  # `EXPANDED` and more are no code points; PERF: to ask first takes 1 us
            self._expand()
            self.kept = self._folded
            self.text = text_of(self.kept)

    def _expand(self) -> None:
        # One code point in a thousand folds to several: the whole text is done one by one only when there is one.
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

    @property
    def kinds(self) -> bytes:
        """Values of `Kind`, one for each original character."""
        if self._kinds is None:
            kinds = characters().kind.take(self._codes).tobytes()
            self._kinds = _joined(kinds, self._joins, self._codes) if self._joins else kinds
        return self._kinds

    @property
    def stretched(self) -> Stretched | None:
        """The view with runs made one; None when no run is worth a look: none of three, no two of two side by side."""
        if isinstance(self._stretched, Unknown):
            self._stretched = self._with_runs_made_one()
        return self._stretched

    def _with_runs_made_one(self) -> Stretched | None:
        same = self.kept[1:] == self.kept[:-1]
        repeats = same.tobytes()
        if not _RUNS.search(repeats):
            return None
        starts = np.concatenate(([0], np.flatnonzero(~same) + 1))
        return Stretched(self.kept[starts], np.append(starts, len(self.kept)))

    @property
    def plain(self) -> str:
        """The original character by character in width and small letters, noise and all: places are the same."""
        if self._plain is None:
            self._plain = text_of(characters().plain.take(self._codes))
        return self._plain

    @property
    def units(self) -> NDArray[np.intp] | None:
        """UTF-16 units before each original character and at the end; None when they are as many as code points."""
        if isinstance(self._units, Unknown):
            is_same = not self._codes.size or self._codes.max() < 0x10000
            self._units = None if is_same else np.concatenate(([0], np.cumsum((self._codes > 0xFFFF) + 1)))
        return self._units

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that `[start, end)` of `text`, not empty, came from."""
        return int(self.places[start]), int(self.places[end - 1]) + 1


def fold(text: str) -> Folded:
    """Fold each code point: width, case, marks, circles and squares, digit forms, traditional forms, look-alikes."""
    return Folded(text)


def holds_no_character(text: Folded) -> bool:
    """Say whether a folded text holds a lone surrogate, as broken JSON escapes make, or U+FFFF."""
    return NO_CHARACTER in text.text


def text_of(codes: NDArray[np.uint32]) -> str:
    """Return the text of code points.

    PERF: `bytes.decode` looks its codec up by name and takes a copy, 0.4 us more.

    Raises: UnicodeDecodeError, where one is no code point, or half a character.
    """
    return utf_32_le_decode(codes)[0]  # type: ignore[arg-type]  # an array is a buffer, which Python 3.11 cannot say


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
