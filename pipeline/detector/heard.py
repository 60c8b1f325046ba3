"""The view of how a text sounds, of those places only where a word may begin.

A character of two readings is read in either. Of characters near one another the one may need its first reading and the
other its second, so every other one is also read in its second, and then the rest.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import NO_CHARACTER, Kind
from pipeline.detector.index import Index
from pipeline.detector.normalize import Folded
from pipeline.detector.openings import Openings
from pipeline.detector.readings import readings, syllables_in
from pipeline.detector.renderings import Rendering

_LATIN = re.compile("[a-z]+")
_OTHER = bytes((Kind.OTHER,))
_TWO_LETTERS = bytes((Kind.LETTER, Kind.LETTER))
#: Two letters and more. PERF: the engine skips to two plain bytes in 1 us for 1,000, to `{2,}` in 40.
_LETTERS = re.compile(re.escape(_TWO_LETTERS) + b"+")
_AS_LETTER = bytes(Kind.LETTER if kind == Kind.LOOK_ALIKE else kind for kind in range(256))
#: Places from which on all of a text is searched.
_ROWS_MAX = 48


class _Sounds(NamedTuple):
    """How a text sounds.

    Args:
        classes: of its sounds, and 0. **Shape** (sounds + 1,).
        bounds: where in the folded text each sound begins, and the end; None when each is one character.
    """

    classes: NDArray[np.intp]
    bounds: NDArray[np.intp] | None


class Rows(NamedTuple):
    """How a text sounds from each of some places on, one row after the other: as much of it as a word is long.

    PERF: a row takes 2 us; arrays of a few numbers take 20 whatever they do.

    Args:
        begins: the place in `sounds` of each row; several rows of one place are several ways to read it.
        width: symbols of a row.
    """

    text: str
    begins: Sequence[int]
    width: int
    bounds: NDArray[np.intp] | None

    @classmethod
    def of(cls, sounds: _Sounds, begins: Sequence[int], longest: int) -> Self:
        rows: list[str] = []
        begins_of_rows: list[int] = []
        for begin in begins:
            ways = _ways_of_row(sounds.classes[begin : begin + longest].tolist())
            rows += [way.ljust(longest + 1, NO_CHARACTER) for way in ways]
            begins_of_rows += [begin] * len(ways)
        return cls("".join(rows), begins_of_rows, longest + 1, sounds.bounds)

    def spans(self, index: Index) -> Iterator[tuple[Sequence[int], int]]:
        """Give for each match at the beginning of a row the bounds of its sounds in the folded text, and its number."""
        for start, end, number in index.find(self.text):
            row, column = divmod(start, self.width)
            if column == 0:
                first, last = self.begins[row], self.begins[row] + end - start
                between = range(first, last + 1)
                yield between if self.bounds is None else self.bounds[first : last + 1].tolist(), number


def heard(folded: Folded, openings: Openings, longest: int) -> Rendering | Rows | None:
    """Return how a text sounds where words may begin; None when that is nowhere.

    Args:
        longest: sounds of the longest word.
    """
    sounds = _sounds_of(folded)
    begins = openings.places(sounds.classes)
    if not begins.size:
        return None
    if begins.size <= _ROWS_MAX and begins.size * longest < sounds.classes.size:
        return Rows.of(sounds, begins.tolist(), longest)
    return Rendering.of(
        _ways(sounds.classes), np.arange(sounds.classes.size) if sounds.bounds is None else sounds.bounds
    )


def _sounds_of(folded: Folded) -> _Sounds:
    classes = np.empty(len(folded.kept) + 1, np.intp)
    classes[-1] = 0
    readings().classes.take(folded.kept, mode="clip", out=classes[:-1])
    if _OTHER in folded.kinds and (runs := _latin_runs(folded)):
        begins = np.ones(len(classes), dtype=np.bool_)
        for place, parts in runs:
            _read_latin(place, parts, classes, begins)
        return _Sounds(classes[begins], begins.nonzero()[0])
    return _Sounds(classes, None)


def _latin_runs(folded: Folded) -> Sequence[tuple[int, Sequence[str]]]:
    """Return the place and the syllables of each run of Latin letters that nothing stands between in the original.

    PERF: looking for letters among the kinds takes 2 us for 1,000 characters, in the text 8; most texts have none.
    """
    kinds = folded.kinds.translate(_AS_LETTER)
    return [*_syllables_of(folded, kinds)] if _TWO_LETTERS in kinds else ()


def _syllables_of(folded: Folded, kinds: bytes) -> Iterator[tuple[int, Sequence[str]]]:
    letters = [match.span() for match in _LETTERS.finditer(kinds)]
    for place, end in folded.places.searchsorted(letters).tolist():
        for run in _LATIN.finditer(folded.text, place, end):
            parts = syllables_in(run[0])
            if len(parts) < len(run[0]):  # else they are letters, or syllables of one, which are what they are
                yield run.start(), parts


def _read_latin(place: int, parts: Sequence[str], classes: NDArray[np.intp], begins: NDArray[np.bool_]) -> None:
    """Make one sound of each syllable; note which places begin none."""
    spelled = readings().spelled
    for part in parts:
        classes[place] = spelled[part]
        begins[place + 1 : place + len(part)] = False
        place += len(part)


def _ways(classes: NDArray[np.intp]) -> NDArray[np.uint32]:
    """Return the ways to read sounds. **Shape** (ways, sounds)."""
    tables = readings()
    first, second = tables.first.take(classes), tables.second.take(classes)
    is_odd = (np.cumsum(first != second) & 1).astype(np.bool_)
    return np.stack((first, second, np.where(is_odd, second, first), np.where(is_odd, first, second)))


def _ways_of_row(classes: Sequence[int]) -> Sequence[str]:
    """Return the ways to read some sounds, each once."""
    firsts, seconds = readings().written
    first = "".join([firsts[one] for one in classes])
    second = "".join([seconds[one] for one in classes])
    if first == second:
        return (first,)
    is_second, ways = True, ["", ""]
    for pair in zip(first, second, strict=True):
        is_second ^= pair[0] != pair[1]
        ways = [ways[0] + pair[is_second], ways[1] + pair[not is_second]]
    return (*{first, second, *ways},)
