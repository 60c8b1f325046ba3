"""Where a text can begin to sound like a word at all: told by pairs of sounds, before anything is searched.

Of three characters in a row the classes of the first and second, of the second and third, and of the first and third
are looked up in two small tables: a few microseconds, after which most texts need no search.
"""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.readings import ASCII_CLASSES, FIRST_SYMBOL, readings

#: Sounds of a word that are looked at.
_SOUNDS = 3
#: By what the first class of a pair may be multiplied: the more pairs there are, the larger the tables.
_FACTORS = (7, 29, 113)
#: Cells of a table for each pair in it, at least; with fewer, chance pairs let texts through.
_CELLS_A_PAIR = 32
# PERF: an array and a Python number take 0.9 us together, an array and one of no dimensions 0.3.

#: Bits of the tables: words of three sounds and more, and of two, of which any third may follow.
_LONGER, _OF_TWO = np.array(1, np.uint8), np.array(2, np.uint8)
#: How far to the left of `_LONGER` in the second table is the bit of the first and third sound.
_THIRD_SHIFT = np.array(2, np.uint8)
#: How far the third sound is from the first.
_TO_THIRD = np.array(2, np.intp)

Table = NDArray[np.uint8]


class Openings:
    """The pairs of sounds with which words begin; immutable.

    Args:
        first: by pair of classes, whether a word begins so. **Shape** (cells,).
        second: by pair of classes, whether they are the second and third sound of a word, and whether they are the
            first and third. **Shape** as `first`.
    """

    __slots__ = ("_factor", "_first", "_second")

    def __init__(self, first: Table, second: Table) -> None:
        self._first, self._second = first, second
        classes = len(readings().first)
        self._factor = np.array(len(first) // classes - 1, np.intp)

    @classmethod
    def of(cls, sounds: Sequence[str]) -> Self:
        """Make the tables.

        Args:
            sounds: how words sound, as symbols of `readings` and ASCII characters, two at least.
        """
        begins = "".join(sound[:_SOUNDS].ljust(_SOUNDS, "\0") for sound in sounds)
        codes = np.frombuffer(begins.encode("utf-32-le"), np.uint32).reshape(-1, _SOUNDS)
        numbers = np.where(codes >= FIRST_SYMBOL, codes - FIRST_SYMBOL + ASCII_CLASSES, codes)
        is_longer = numbers[:, 2] != 0
        begun, going_on, around = (_pairs(numbers[is_longer][:, columns]) for columns in ((0, 1), (1, 2), (0, 2)))
        of_two = _pairs(numbers[~is_longer, :2])
        classes = len(readings().first)
        wanted_cells = _CELLS_A_PAIR * max(np.count_nonzero(begun | of_two), np.count_nonzero(going_on))
        factor = next((one for one in _FACTORS if one * classes >= wanted_cells), classes)
        first, second = (np.zeros((factor + 1) * classes, np.uint8) for _ in range(2))
        first[_cells(begun, factor)] |= _LONGER
        first[_cells(of_two, factor)] |= _OF_TWO
        second[_cells(going_on, factor)] |= _LONGER
        second[_cells(around, factor)] |= _LONGER << _THIRD_SHIFT
        second |= _OF_TWO
        return cls(first, second)

    def places(self, heard: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where words may begin: at all places where some do, and at few besides.

        Args:
            heard: the classes of a text, and one that is 0.
        """
        cells = heard[:-1] * self._factor + heard[1:]
        fits = self._first.take(cells[:-1]) & self._second.take(cells[1:])
        places = fits.nonzero()[0]
        if not places.size:
            return places
        around = self._second.take(heard.take(places) * self._factor + heard.take(places + _TO_THIRD))
        kept: NDArray[np.intp] = places.compress(fits.take(places) & (around >> _THIRD_SHIFT | _OF_TWO))
        return kept

    def sections(self, name: str) -> dict[str, bytes | memoryview]:
        """All there is to it, for `of_sections`."""
        return {f"{name}.first": self._first.data, f"{name}.second": self._second.data}

    @classmethod
    def of_sections(cls, name: str, sections: Mapping[str, memoryview]) -> Self:
        return cls(*(np.frombuffer(sections[f"{name}.{part}"], np.uint8) for part in ("first", "second")))


def _pairs(numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which pairs of classes can sound like any of the pairs of sounds. **Shape** (classes, classes)."""
    tables = readings()
    first, second = (
        np.where(table >= FIRST_SYMBOL, table - FIRST_SYMBOL + ASCII_CLASSES, table)
        for table in (tables.first, tables.second)
    )
    first[0] = second[0] = 0
    sounds = np.zeros((ASCII_CLASSES + len(tables.symbols),) * 2, np.bool_)
    sounds[numbers[:, 0], numbers[:, 1]] = True
    rows = sounds[first] | sounds[second]
    pairs: NDArray[np.bool_] = rows[:, first] | rows[:, second]
    return pairs


def _cells(pairs: NDArray[np.bool_], factor: int) -> NDArray[np.intp]:
    before, after = pairs.nonzero()
    return before * factor + after
