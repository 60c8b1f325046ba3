"""What an OCR engine is to the rest of fairlane: one that finds text, and reads what it is shown."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import EngineCrashed

Pixels = NDArray[np.uint8]
#: Four corners of a line, clockwise from the top left as the picture stands. **Shape** (4, 2), float32, px.
Quad = NDArray[np.float32]


class Reading(NamedTuple):
    """What one line says; an empty text when it says nothing."""

    text: str
    #: Of the engine, 0..1.
    confidence: float


class Engine(Protocol):
    """Finds lines of text in a picture and reads them; used by one thread at a time.

    Finding and reading are apart so that a long picture is searched in tiles and each line is read once and whole, and
    so that the way a picture is turned is told by a few of its lines.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    def find(self, pixels: Pixels) -> Sequence[Quad]:
        """Return where lines are, in any order, in px of `pixels`.

        Args:
            pixels: RGB, both sides at least 32 px. **Shape** (height, width, 3), uint8.
        Raises: EngineCrashed when the engine can't go on; its process is then replaced.
        """
        ...

    def read(self, lines: Sequence[Pixels]) -> Sequence[Reading]:
        """Return what each of some pictures says, each of one line that runs from left to right.

        Args:
            lines: RGB, of any size. **Shape** of each (height, width, 3), uint8.
        Raises: EngineCrashed, as `find` does.
        """
        ...


def read_all(engine: Engine, lines: Sequence[Pixels]) -> Sequence[Reading]:
    """Return a reading for each line.

    Raises: EngineCrashed when the engine fails, or says more or less than it was asked: an answer with holes is a
        failure, not a picture without text.
    """
    said = engine.read(lines)
    if len(said) != len(lines):
        raise EngineCrashed(f"{engine.name} was shown {len(lines)} lines and read {len(said)}")
    return said
