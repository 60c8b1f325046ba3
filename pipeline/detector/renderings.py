"""A folded text written in other symbols, of which each stands for one character or some."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import NO_CHARACTER
from pipeline.detector.index import Index

_END = np.array([ord(NO_CHARACTER)], dtype=np.uint32)


class Rendering(NamedTuple):
    """A text in some ways to write it, one after the other.

    Args:
        text: what no word holds stands between one way and the next.
        bounds: where in the folded text each symbol of a way begins, and the end. **Shape** (symbols of a way + 1,).
    """

    text: str
    bounds: NDArray[np.intp]

    @classmethod
    def of(cls, ways: NDArray[np.uint32], bounds: NDArray[np.intp]) -> "Rendering":
        """Make one of code points.

        Args:
            ways: the last column is overwritten. **Shape** (ways, symbols of a way + 1).
        """
        ways[:, -1] = _END
        return cls(ways.tobytes().decode("utf-32-le"), bounds)

    def spans(self, index: Index) -> Iterator[tuple[Sequence[int], int]]:
        """Give for each match the bounds of its symbols in the folded text, and its number."""
        length = len(self.bounds)
        for start, end, number in index.find(self.text):
            place = start % length
            yield self.bounds[place : place + end - start + 1].tolist(), number
