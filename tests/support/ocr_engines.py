"""Engines that find and read what a test tells them."""

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.ocr.engine import Pixels, Quad, Reading


def quad(left: float, top: float, right: float, bottom: float) -> Quad:
    """The corners of an upright rectangle."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float32)


class Scripted:
    """Finds by a function of the picture, reads by one of a line's picture, and keeps the shapes it was shown."""

    name, model = "scripted", "none"

    def __init__(
        self,
        find: Callable[[Pixels], Sequence[Quad]],
        read: Callable[[Pixels], Reading] = lambda line: Reading("x", 0.99),
    ) -> None:
        self._find, self._read = find, read
        self.shapes: list[tuple[int, ...]] = []
        self.lines: list[tuple[int, ...]] = []

    def find(self, pixels: Pixels) -> Sequence[Quad]:
        self.shapes.append(pixels.shape)
        return self._find(pixels)

    def read(self, lines: Sequence[Pixels]) -> Sequence[Reading]:
        self.lines += [line.shape for line in lines]
        return [self._read(line) for line in lines]
