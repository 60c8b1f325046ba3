"""The view of a text in which characters that were taken apart are put together: 赌博 for 贝者博; from `glyphs.tsv`
(tools/glyph_table.py). What is found so is never sure: 女子 is 好, and is a word of its own.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.detector.automaton import Automaton, Match
from pipeline.detector.characters import NO_CHARACTER
from pipeline.detector.normalize import Folded
from pipeline.detector.renderings import Rendering

_FILE = Path(__file__).with_name("glyphs.tsv")
#: Characters of the same parts that are told apart.
_WAYS_MAX = 3


class Glyphs(NamedTuple):
    """What parts make which characters, and into which parts a character falls apart."""

    parts: Automaton
    whole: Sequence[str]
    apart: Mapping[str, str]


def falls_apart(word: str) -> bool:
    """Say whether a folded word holds a character that can be taken apart."""
    return any(char in glyphs().apart for char in word)


def put_together(folded: Folded, longest: int) -> Rendering | None:
    """Return a text with what looks like parts put together, from the left, the longest first; None: there are none.

    Args:
        longest: characters of the longest word; what is farther from all parts is left out.
    """
    table = glyphs()
    matches = [*table.parts.find(folded.text)]
    if not matches:
        return None
    chosen = [*_from_the_left(matches)]
    ways: list[list[str]] = [[] for _ in range(max(len(table.whole[index]) for _, _, index in chosen))]
    bounds: list[int] = []

    def take(pieces: Sequence[str], starts: Iterable[int]) -> None:
        bounds.extend(starts)
        for number, way in enumerate(ways):
            way.append(pieces[number % len(pieces)])

    done = reach = max(0, chosen[0][0] - longest)
    for start, end, index in chosen:
        begin = max(done, start - longest)
        if begin > reach:
            take([folded.text[done:reach]], range(done, reach))
            take([NO_CHARACTER], [reach])
            done = begin
        take([folded.text[done:start]], range(done, start))
        take(table.whole[index], [start])
        done, reach = end, min(end + longest, len(folded.text))
    take([folded.text[done:reach]], range(done, reach))
    take([NO_CHARACTER], [reach])
    return Rendering("".join(chain.from_iterable(ways)), np.array(bounds, np.intp))


def _from_the_left(matches: Sequence[Match]) -> Iterator[Match]:
    done = 0
    for start, end, index in sorted(matches, key=lambda match: (match[0], -match[1])):
        if start >= done:
            yield start, end, index
            done = end


def is_put_together(bounds: Sequence[int]) -> bool:
    """Say whether a candidate whose characters begin and end at `bounds` holds one that was taken apart."""
    return any(after - before > 1 for before, after in pairwise(bounds))


@cache
def glyphs() -> Glyphs:
    """The table, ready to search; made once in a process that needs it."""
    whole: dict[str, str] = {}
    apart: dict[str, str] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            char, apart[char] = line.split("\t")
            for parts in apart[char].split(" "):
                whole[parts] = whole.get(parts, "") + char
    return Glyphs(Automaton.of_patterns(list(whole)), [chars[:_WAYS_MAX] for chars in whole.values()], apart)


@cache
def glyphs_version() -> str:
    """What changes with the table: lists that were made by another must be made again."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]
