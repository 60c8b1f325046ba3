"""Columns of numbers and of texts that are read in place, be they just made or mapped from a file."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray


def column_of(numbers: Sequence[int] | NDArray[np.unsignedinteger]) -> memoryview:
    """Return numbers from 0 to 2**32 - 1 as a column."""
    return memoryview(np.asarray(numbers, dtype="<u4").tobytes()).cast("I")


def section_of(column: memoryview) -> memoryview:
    """Return the bytes of a column, for `column_of_section`."""
    return column.cast("B")


def column_of_section(section: memoryview) -> memoryview:
    return section.cast("I")


class Texts:
    """Many texts in one piece, read one at a time."""

    __slots__ = ("_ends", "_piece")

    def __init__(self, ends: memoryview, piece: memoryview) -> None:
        self._ends, self._piece = ends, piece

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        encoded = [text.encode() for text in texts]
        return cls(column_of([*accumulate(map(len, encoded))]), memoryview(b"".join(encoded)))

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        start = self._ends[number - 1] if number else 0
        return str(self._piece[start : self._ends[number]], "utf-8")

    def sections(self, name: str) -> dict[str, bytes | memoryview]:
        return {f"{name}.ends": section_of(self._ends), f"{name}.piece": self._piece}

    @classmethod
    def of_sections(cls, name: str, sections: Mapping[str, memoryview]) -> Self:
        return cls(column_of_section(sections[f"{name}.ends"]), sections[f"{name}.piece"])
