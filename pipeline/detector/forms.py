"""How a word of a list is looked for: its folded spelling, and what a candidate in a text must keep."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from pipeline.detector.characters import NO_CHARACTER, Kind, characters
from pipeline.detector.normalize import Folded, fold, holds_no_character
from pipeline.detector.rules import Boundary

#: Noise that many words have inside and few writers keep: "wi-fi", "don't", "national congress".
_LOOSE = frozenset(" -'\u2019\u00b7\u2010\u2011\u3000\u00a0")
#: Between words that are folded together: what no word folds to.
_SEPARATOR = 0x0A
_NO_CHARACTER_CODE = ord(NO_CHARACTER)
_CODE_MAX = 0x10FFFF
_UNSEEN = frozenset((Kind.MARK, Kind.INVISIBLE))


@dataclass(frozen=True, slots=True)
class Form:
    """A word ready to be found.

    Args:
        text: folded, without noise; as `Folded.plain` has it when `is_literal`.
        is_literal: it has noise that is part of it, as `C#` has, so that noise is not overlooked in it.
        gaps: indices into `text` before which the word itself has a gap.
        runs: lengths of its runs of one character.
        first, last: kinds of its outer characters.
        is_bounded: letters and digits may not go on beyond its edges.
        has_look_alikes: it is spelled in letters that look Latin, and are not.
    """

    text: str
    is_literal: bool
    gaps: frozenset[int]
    runs: tuple[int, ...]
    first: int
    last: int
    is_bounded: bool
    has_look_alikes: bool


class Spelling(NamedTuple):
    """What is searched for: the folded word, and the same with each run of one character made one."""

    text: str
    collapsed: str
    is_literal: bool


def spelling_of(word: str) -> Spelling:
    """Return the spelling of a word without a fault (`word_fault`)."""
    form = form_of(word, "auto")
    return Spelling(form.text, form.text if form.is_literal else collapsed(form.text), form.is_literal)


class PlainSpellings(NamedTuple):
    """Spellings of many words.

    Args:
        texts: the folded words.
        odd: indices of words that hold noise or are at fault, whose texts say nothing.
        doubled: indices of words that may have a character twice in a row.
    """

    texts: list[str]
    odd: set[int]
    doubled: set[int]


def plain_spellings(words: Sequence[str]) -> PlainSpellings:
    """Fold many words at once.

    PERF: one by one 200,000 of them took 9.2 s.
    """
    if not words:
        return PlainSpellings([], set(), set())
    tables = characters()
    codes = np.frombuffer("\n".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    folded = tables.fold.take(codes)
    is_odd = (tables.kind.take(codes) > Kind.NUMERAL) | (folded >= _NO_CHARACTER_CODE) & (folded != codes)
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    ends = np.cumsum(lengths + 1) - 1
    is_odd[ends[:-1]] = False
    odd = set(np.searchsorted(ends, np.flatnonzero(is_odd | (codes == _NO_CHARACTER_CODE)), "right").tolist())
    odd.update(np.flatnonzero(lengths == 0).tolist())
    doubled = set(np.searchsorted(ends, np.flatnonzero(folded[1:] == folded[:-1]), "right").tolist())
    folded[ends[:-1]] = _SEPARATOR
    folded[folded > _CODE_MAX] = _NO_CHARACTER_CODE  # of an odd word, which is looked at again
    return PlainSpellings(folded.tobytes().decode("utf-32-le").split(chr(_SEPARATOR)), odd, doubled)


def word_fault(word: str) -> str | None:
    """Say why no list can hold a word, None when one can."""
    trimmed = word.strip()
    if _is_blank(trimmed):
        return "is blank: a word has at least one visible character"
    if holds_no_character(fold(trimmed)):
        return "holds half a character (a lone surrogate) or U+FFFF"
    return None


def _is_blank(word: str) -> bool:
    """Say whether a word is made of white space, controls, marks and invisible format characters alone."""
    return all(unicodedata.category(char) in {"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"} for char in word)


def form_of(word: str, boundary: Boundary) -> Form:
    """Return the form of a word without a fault (`word_fault`)."""
    folded = fold(word)
    kinds = folded.kinds
    is_literal = not folded.text or not _is_loose(word, kinds)
    text = folded.plain if is_literal else folded.text
    seen = [kind for kind in kinds if kind not in _UNSEEN]
    return Form(
        text=text,
        is_literal=is_literal,
        gaps=frozenset() if is_literal else _gaps(folded),
        runs=tuple(len(list(run)) for _, run in groupby(text)),
        first=seen[0],
        last=seen[-1],
        is_bounded=boundary == "auto",
        has_look_alikes=Kind.LOOK_ALIKE in kinds,
    )


def collapsed(text: str) -> str:
    """The text with each run of one character made one."""
    return "".join(char for char, _ in groupby(text))


def _is_loose(word: str, kinds: bytes) -> bool:
    """Say whether all noise of a word is such that it may be left out, or be another."""
    noise = [index for index, kind in enumerate(kinds) if kind > Kind.INVISIBLE]
    if not noise:
        return True
    is_inside = kinds[0] <= Kind.INVISIBLE and kinds[-1] <= Kind.INVISIBLE
    return is_inside and all(word[index] in _LOOSE for index in noise)


def _gaps(folded: Folded) -> frozenset[int]:
    places = folded.places.tolist()
    return frozenset(index for index in range(1, len(places)) if places[index] - places[index - 1] > 1)
