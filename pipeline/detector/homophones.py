"""The view of how a text sounds: ideographs that are read alike are one, and so are their syllables in Latin letters.

What is found here is never sure: 威信 sounds like 微信, and is a word of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import Kind
from pipeline.detector.forms import Form
from pipeline.detector.normalize import Folded, fold
from pipeline.detector.readings import readings
from pipeline.detector.renderings import Rendering
from pipeline.detector.verify import Span, verified

#: Ways to read one word that are searched for.
_WAYS_MAX = 16
_LATIN = re.compile("[a-z]+")
#: Letters of the longest run that is read as syllables.
_RUN_MAX_CHARS = 24
_SYLLABLE_MAX_CHARS = 6
#: Characters that one word may hold both of; few words are longer.
_NEAR_CHARS = 8
_LETTER, _OTHER = bytes((Kind.LETTER,)), bytes((Kind.OTHER,))
#: Syllables that no run of letters is taken apart into: every English word would hold some.
_NO_SYLLABLES = frozenset(("m", "n", "hm"))


def syllables_of(text: str, word: str) -> int:
    """Return how many characters of a folded word are read; 0 when it holds what is not, or no ideograph at all.

    Args:
        word: before folding, which makes digits of numerals: 八九六四 is read, and 8964 is a number.
    """
    of = readings().of
    if not all(char in of or char.isascii() for char in text) or (text.isascii() and not _has_numerals(word)):
        return 0
    return sum(char in of for char in text)


def _has_numerals(word: str) -> bool:
    return bytes((Kind.NUMERAL,)) in fold(word).kinds


def sounds_of_word(text: str) -> list[str]:
    """Return the ways in which a folded word sounds, as `sounds_of` writes texts."""
    of, symbols = readings().of, readings().symbols
    parts = [_parts(run) if run.isalpha() and run.isascii() else [run] for run in re.findall("[a-z]+|.", text)]
    choices = [
        [symbols[syllable] for syllable in of.get(part, (part,))] if part in of or part in symbols else [part]
        for run in parts
        for part in run
    ]
    return [*dict.fromkeys("".join(way) for way in islice(product(*choices), _WAYS_MAX))]


@lru_cache(maxsize=1_024)
def latin_spellings(text: str) -> dict[str, frozenset[int]]:
    """Return a folded word in pinyin, in each way to read it, and where in it syllables begin."""
    of = readings().of
    choices = [[typed for syllable in of.get(char, (char,)) for typed in _typed(syllable)] for char in text]
    found: dict[str, frozenset[int]] = {}
    for way in islice(product(*choices), _WAYS_MAX):
        begins = np.cumsum([len(syllable) for syllable in way])[:-1]
        found.setdefault("".join(way), frozenset(begins.tolist()))
    return found


def latin_form(form: Form, spelled: str) -> Form:
    """Return what a candidate must keep that is one of the `latin_spellings` of a word."""
    gaps = latin_spellings(form.text).get(spelled, frozenset())
    return replace(form, text=spelled, gaps=gaps, first=Kind.LETTER, last=Kind.LETTER)


def _typed(syllable: str) -> tuple[str, ...]:
    # ü is typed as v, and left without its dots by folding.
    return (syllable, syllable.replace("v", "u")) if len(syllable) > 1 and "v" in syllable else (syllable,)


def sounds_of(folded: Folded) -> Rendering:
    """Return how a text sounds.

    A character of two readings is read in either. Of characters near one another the one may need its first reading
    and the other its second, so every other one is also read in its second, and then the rest.
    """
    tables, codes = readings(), folded.kept
    first, second = tables.first.take(codes, mode="clip"), tables.second.take(codes, mode="clip")
    bounds = np.arange(len(codes) + 1)
    if _LETTER in folded.kinds and _OTHER in folded.kinds:
        kept = _read_latin(folded, first, second)
        first, second, bounds = first[kept], second[kept], np.append(np.flatnonzero(kept), len(codes))
    twofold = (first != second).nonzero()[0]
    count = len(twofold) and (3 if (twofold[1:] - twofold[:-1] < _NEAR_CHARS).any() else 1)
    ways = np.empty((count + 1, len(bounds)), dtype=np.uint32)
    ways[:, :-1] = first
    for way, places in zip(ways[1:], (twofold, twofold[::2], twofold[1::2]), strict=False):
        way[places] = second[places]
    return Rendering.of(ways, bounds)


def _read_latin(folded: Folded, first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Make one symbol of each syllable in Latin letters; return which places begin a symbol."""
    kept = np.ones(len(first), dtype=np.bool_)
    symbols, places = readings().symbols, folded.places
    for match in _LATIN.finditer(folded.text):
        begin, end = match.span()
        cuts: list[int] = []
        if int(places[end - 1]) - int(places[begin]) != end - 1 - begin:
            cuts = (np.flatnonzero(np.diff(places[begin:end]) != 1) + begin + 1).tolist()
        for start, stop in zip((begin, *cuts), (*cuts, end), strict=True):
            place = start
            for part in _parts(folded.text[start:stop]):
                if part in symbols:
                    first[place] = second[place] = ord(symbols[part])
                    kept[place + 1 : place + len(part)] = False
                place += len(part)
    return kept


@lru_cache(maxsize=4_096)
def _parts(run: str) -> Sequence[str]:
    """Take letters apart into syllables, the longest first; into letters where they are none."""
    if len(run) > _RUN_MAX_CHARS:
        return run
    symbols = readings().symbols
    ways: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(run) + 1):
        best: tuple[str, ...] | None = None
        for start in range(max(0, end - _SYLLABLE_MAX_CHARS), end):
            before, syllable = ways[start], run[start:end]
            if before is not None and syllable in symbols and syllable not in _NO_SYLLABLES:
                best = min(best or (*before, syllable), (*before, syllable), key=len)
        ways.append(best)
    return ways[-1] or run


def verified_sound(folded: Folded, form: Form, bounds: Sequence[int]) -> Span | None:
    """Return the span of a candidate whose symbols begin and end at `bounds`; None when it is none, or the word itself.

    All in Latin letters it is found by `latin_spellings`.
    """
    start, end = bounds[0], bounds[-1]
    there = folded.text[start:end]
    if there == form.text or (there.isascii() and there.isalpha()):
        return None
    kinds, places = folded.kinds, folded.places
    latin = {index for index, char in enumerate(there) if char.isascii() and char.isalpha()}
    gaps = form.gaps if not latin else frozenset(
        bound - start for bound in bounds[1:-1] if {bound - start, bound - start - 1} & latin
    )  # fmt: skip
    outer = kinds[int(places[start])], kinds[int(places[end - 1])]
    return verified(folded, replace(form, first=outer[0], last=outer[1], gaps=gaps), start, end)
