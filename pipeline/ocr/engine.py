"""What an OCR engine is to the rest of fairlane."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.types import OcrLine


class Engine(Protocol):
    """Reads the lines of one picture; used by one thread at a time."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    def read(self, pixels: NDArray[np.uint8]) -> Sequence[OcrLine]:
        """Return the lines in any order, their boxes in px of `pixels`.

        Args:
            pixels: RGB, both sides at least 32 px. **Shape** (height, width, 3), uint8.
        Raises: EngineCrashed when the engine can't go on; its process is then replaced.
        """
        ...
