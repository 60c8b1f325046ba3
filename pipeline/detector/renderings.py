"""A folded text, or parts of it, written in other symbols, of which each stands for one character or some."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import NO_CHARACTER
from pipeline.detector.index import Index
from pipeline.detector.normalize import text_of


class Rendering(NamedTuple):
    """Ways to write the same, one after the other.

    Args:
        text: in each way as many symbols as there are `bounds`. What no word holds stands between one part of the text
            and the next, and at the end of a way.
        bounds: where in the folded text each symbol of a way begins, or, of what stands between, where a part ends.
            **Shape** (symbols of a way,).
    """

    text: str
    bounds: NDArray[np.intp]

    @classmethod
    def of(cls, ways: NDArray[np.uint32], bounds: NDArray[np.intp]) -> Self:
        """Make one of code points.

        Args:
            ways: the last column is overwritten. **Shape** (ways, symbols of a way).
        """
        ways[:, -1] = ord(NO_CHARACTER)
        return cls(text_of(ways), bounds)

    def spans(self, index: Index) -> Iterator[tuple[Sequence[int], int]]:
        """Give for each match the bounds of its symbols in the folded text, and its number."""
        for start, end, number in index.find(self.text):
            yield self.bounds_of(start, end), number

    def bounds_of(self, start: int, end: int) -> Sequence[int]:
        """Return the bounds in the folded text of symbols `[start, end)` of `text`."""
        place = start % len(self.bounds)
        return cast("list[int]", self.bounds[place : place + end - start + 1].tolist())
