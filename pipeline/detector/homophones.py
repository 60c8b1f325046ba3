"""How words sound: ideographs that are read alike are one, and so are their syllables in Latin letters.

What is found here is never sure: 威信 sounds like 微信, and is a word of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product

import numpy as np

from pipeline.detector.characters import Kind
from pipeline.detector.forms import Form
from pipeline.detector.normalize import Folded, fold
from pipeline.detector.readings import readings, syllables_in
from pipeline.detector.verify import Span, verified

#: Ways to read one word that are searched for.
_WAYS_MAX = 16


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
    """Return the ways in which a folded word sounds, as `heard` writes texts."""
    of, symbols = readings().of, readings().symbols
    parts = [syllables_in(run) if run.isalpha() and run.isascii() else [run] for run in re.findall("[a-z]+|.", text)]
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


def latin_form(form: Form, spelled: str) -> Form | None:
    """Return what a candidate must keep that is one of the `latin_spellings` of a word; None when it is not."""
    gaps = latin_spellings(form.text).get(spelled)
    return None if gaps is None else replace(form, text=spelled, gaps=gaps, first=Kind.LETTER, last=Kind.LETTER)


def _typed(syllable: str) -> tuple[str, ...]:
    # ü is typed as v, and left without its dots by folding.
    return (syllable, syllable.replace("v", "u")) if len(syllable) > 1 and "v" in syllable else (syllable,)


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
