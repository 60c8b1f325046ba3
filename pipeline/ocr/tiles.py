"""Long pictures are searched in overlapping tiles; a line that two tiles see comes out once, and whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from pipeline.ocr.engine import Pixels, Quad
from pipeline.ocr.quads import bounds, thickness, united

#: px along the picture; the engine looks at pictures of this size without shrinking them.
TILE_PX = 1536
#: px that neighbours share: three lines of a phone's screen.
OVERLAP_PX = 160
#: px; lines as thin as this are found as well as thicker ones, and need fewer pixels.
_SEARCHED_PX = 24
#: PERF: a third of the CPU; smaller text that comes later is still found, 14 px of it being shown as 8.
_LEAST_SEARCH_SCALE = 0.6
#: px; narrower parts gain nothing.
_LEAST_SIDE_PX = 320
#: Of what two lines show of themselves where their tiles overlap: the part they must share to be one line.
_SAME_LINE = 0.5


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of a long picture, from `start` to `end` px along its longer side."""

    start: int
    end: int


def tiles_of(length_px: int) -> list[Tile]:
    """Cut a length into equal tiles of at most TILE_PX that overlap by OVERLAP_PX at least."""
    if length_px <= TILE_PX:
        return [Tile(0, length_px)]
    count = -(-(length_px - OVERLAP_PX) // (TILE_PX - OVERLAP_PX))
    size = -(-(length_px + (count - 1) * OVERLAP_PX) // count)
    step = size - OVERLAP_PX
    return [Tile(min(number * step, length_px - size), min(number * step + size, length_px)) for number in range(count)]


def find_in_tiles(pixels: Pixels, tiles: Sequence[Tile], find: Callable[[Pixels], Sequence[Quad]]) -> list[Quad]:
    """Find lines in each tile and join them; places are in px of the whole.

    Where the text of the tiles before is large, a tile is shrunk for the search, not for the reading.
    """
    axis = 0 if pixels.shape[0] >= pixels.shape[1] else 1
    done: list[Quad] = []
    latest: list[Quad] = []
    end = 0
    for tile in tiles:
        part = pixels[tile.start : tile.end] if axis == 0 else pixels[:, tile.start : tile.end]
        offset = np.array([0, tile.start] if axis == 0 else [tile.start, 0], dtype=np.float32)
        found = [quad + offset for quad in _find_shrunk(part, _search_scale([*done, *latest]), find)]
        finished, latest = _join(latest, found, _Seam(tile.start, end, axis))
        done += finished
        end = tile.end
    return done + latest


def _search_scale(known: Sequence[Quad]) -> float:
    if not known:
        return 1.0
    small_px = float(np.percentile([thickness(quad) for quad in known], 10))
    return min(1.0, max(_LEAST_SEARCH_SCALE, _SEARCHED_PX / small_px))


def _find_shrunk(part: Pixels, scale: float, find: Callable[[Pixels], Sequence[Quad]]) -> list[Quad]:
    height_px, width_px = part.shape[:2]
    if scale == 1.0 or min(part.shape[:2]) * scale < _LEAST_SIDE_PX:
        return list(find(part))
    size = round(width_px * scale), round(height_px * scale)
    back = np.array([width_px / size[0], height_px / size[1]], dtype=np.float32)
    return [quad * back for quad in find(cv2.resize(part, size, interpolation=cv2.INTER_AREA).astype(np.uint8))]


@dataclass(frozen=True, slots=True)
class _Seam:
    """What two neighbouring tiles both show, from `start` to `end` px along the axis, 0 (down) or 1 (right)."""

    start: int
    end: int
    axis: int

    def part_of(self, quad: Quad) -> tuple[float, float, float, float]:
        left, top, right, bottom = bounds(quad)
        if self.axis == 0:
            return left, max(top, self.start), right, min(bottom, self.end)
        return max(left, self.start), top, min(right, self.end), bottom


def _join(before: Sequence[Quad], after: Sequence[Quad], seam: _Seam) -> tuple[list[Quad], list[Quad]]:
    """Return the lines that end in the earlier tile, and those of the later one with what they show in the earlier."""
    ended, going_on = [], list(after)
    for one in before:
        partners = [place for place, other in enumerate(going_on) if _are_one(one, other, seam)]
        if not partners:
            ended.append(one)
            continue
        whole = one
        for place in reversed(partners):
            whole = united(whole, going_on.pop(place))
        going_on.append(whole)
    return ended, going_on


def _are_one(one: Quad, other: Quad, seam: _Seam) -> bool:
    a, b = seam.part_of(one), seam.part_of(other)
    shared = _area(max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
    return shared > _SAME_LINE * min(_area(*a), _area(*b))


def _area(left: float, top: float, right: float, bottom: float) -> float:
    return max(0.0, right - left) * max(0.0, bottom - top)
