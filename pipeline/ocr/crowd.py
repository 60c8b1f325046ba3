"""Pictures that show more lines than are read are refused before the engine has looked for all of them.

A picture of thousands of specks takes the finder seconds and half a gigabyte. So specks are counted first, which costs
some milliseconds; where there are too many, the finder looks at the picture made small, which is quick and shows
whether the specks are text. Real pictures have some tens, noisy ones some hundreds.
"""

import cv2
import numpy as np

from pipeline.errors import ImageTooLarge
from pipeline.ocr.engine import Pixels

#: px; the longest side at which specks are counted, and at which text of a crowd is still found.
_SMALL_PX = 768
#: Grey levels between neighbours where something is drawn.
_EDGE_LEVELS = 40
#: px; of a speck, at the small size. Lower or narrower ones are noise, higher ones no line.
_LEAST_PX, _MOST_PX = 4, 60


def made_small(pixels: Pixels) -> Pixels:
    """The picture with at most `_SMALL_PX` a side."""
    height_px, width_px = pixels.shape[:2]
    scale = _SMALL_PX / max(height_px, width_px)
    if scale >= 1:
        return pixels
    size = max(1, round(width_px * scale)), max(1, round(height_px * scale))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def count_specks(small: Pixels) -> int:
    """How many things as high as a line of text stand apart in a picture made small."""
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > _EDGE_LEVELS
    # What stands side by side, as letters do, is one.
    joined = cv2.morphologyEx(edges.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((1, 3), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    width_px, height_px = stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_HEIGHT]
    return int(np.count_nonzero((width_px >= _LEAST_PX) & (height_px >= _LEAST_PX) & (height_px <= _MOST_PX)))


def refuse_crowd(lines: int, max_lines: int) -> None:
    """Raise ImageTooLarge when there are more lines than are read."""
    if lines > max_lines:
        raise ImageTooLarge(f"the image shows more than {max_lines} lines of text ({lines} were found)")
