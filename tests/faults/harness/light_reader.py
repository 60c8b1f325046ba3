"""A reader for a real engine child that needs a tenth of a second, where a real one needs a second of the processor."""

import time

from pipeline.ocr.child import Reader
from pipeline.ocr.images import ImageLimits
from pipeline.ocr.types import OcrLine, OcrResult
from tests.support.ocr_readers import MARKER, by_marker

#: Stands behind the marker of a picture in which a word of the sample list is read.
HIT = b"a hit"
#: What is read there; the list has the last three characters, and no other part.
HIT_TEXT = "只要保证金"
READING_S = 0.1


def by_rote(threads: int, limits: ImageLimits) -> Reader:
    """Finds the word where the picture says so, and obeys what else it says."""
    obey = by_marker(threads, limits)

    def read(data: bytes) -> OcrResult:
        time.sleep(READING_S)
        if data.rpartition(MARKER)[2] != HIT:
            return obey(data)
        line = OcrLine(HIT_TEXT, 0.9, ((0, 0), (40, 0), (40, 9), (0, 9)))
        return OcrResult((line,), 60, 40, 1.0, "by rote", "none")

    return read
