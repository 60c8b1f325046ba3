"""Lines as four corners: where they lie, what belongs together, and the picture of one of them, upright."""

import cv2
import numpy as np

from pipeline.ocr.engine import Pixels, Quad
from pipeline.ocr.types import Box

#: Of a line's height: what its picture gets beyond both ends. Finders cut closely, and a full stop is the first to go.
_MARGIN_ENDS = 0.2
#: Height by width from which a line runs downwards.
TALL_RATIO = 1.5


def bounds(quad: Quad) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the upright rectangle around it."""
    (left, top), (right, bottom) = quad.min(axis=0), quad.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def sides(quad: Quad) -> tuple[float, float]:
    """Its width and its height, px, along its own edges."""
    width = max(np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[3]))
    height = max(np.linalg.norm(quad[3] - quad[0]), np.linalg.norm(quad[2] - quad[1]))
    return float(width), float(height)


def thickness(quad: Quad) -> float:
    """The shorter of its sides, px: the height of the text."""
    return min(sides(quad))


def is_tall(quad: Quad) -> bool:
    """Whether it runs downwards: a column of characters, or a line of a picture that lies on its side."""
    width, height = sides(quad)
    return height >= TALL_RATIO * width


def turned(quad: Quad, quarters: int) -> Quad:
    """The same corners, the first being the one that comes first once the line is turned clockwise that often."""
    return np.roll(quad, quarters, axis=0)


def grown(quad: Quad, size: tuple[int, int]) -> Quad:
    """Longer at both ends along its text, yet inside a picture of that width and height."""
    width, height = sides(quad)
    along = quad[1] - quad[0] if width >= height else quad[3] - quad[0]
    step = along / max(1.0, max(width, height)) * (_MARGIN_ENDS * min(width, height))
    signs = np.array([-1, 1, 1, -1] if width >= height else [-1, -1, 1, 1], dtype=np.float32)
    inside: Quad = np.clip(quad + signs[:, None] * step, 0, np.array(size)).astype(np.float32)
    return inside


def cut_out(pixels: Pixels, quad: Quad) -> Pixels:
    """The picture of one line; its first corner comes to the top left."""
    width, height = (max(1, int(side)) for side in sides(quad))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    left, top, right, bottom = (int(edge) for edge in bounds(quad))
    # PERF: the warp reads a small part of the picture; cv2 refuses sources of 32,768 px, and long pictures come near.
    part = pixels[max(0, top - 2) : bottom + 3, max(0, left - 2) : right + 3]
    origin = np.array([max(0, left - 2), max(0, top - 2)], dtype=np.float32)
    warp = cv2.getPerspectiveTransform(quad - origin, target)
    line = cv2.warpPerspective(part, warp, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)
    return np.asarray(line, dtype=np.uint8)


def overlap_area(one: Quad, other: Quad) -> float:
    """The area, px², that the rectangles around two lines share."""
    left, top, right, bottom = bounds(one)
    left_b, top_b, right_b, bottom_b = bounds(other)
    return max(0.0, min(right, right_b) - max(left, left_b)) * max(0.0, min(bottom, bottom_b) - max(top, top_b))


def area(quad: Quad) -> float:
    """The area, px², of the rectangle around it."""
    left, top, right, bottom = bounds(quad)
    return (right - left) * (bottom - top)


def united(one: Quad, other: Quad) -> Quad:
    """One line of two pieces; the longer one when it holds nearly all of the other."""
    larger, smaller = sorted((one, other), key=area, reverse=True)
    if overlap_area(larger, smaller) >= 0.8 * area(smaller):
        return larger
    corners = cv2.boxPoints(cv2.minAreaRect(np.concatenate([one, other])))
    return _clockwise(corners.astype(np.float32))


def box_of(quad: Quad, scale: float) -> Box:
    """Its corners in whole px of a picture of which `scale` gives this one."""
    a, b, c, d = ((round(float(x) / scale), round(float(y) / scale)) for x, y in quad)
    return a, b, c, d


def _clockwise(corners: Quad) -> Quad:
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    top_left, bottom_left = left[np.argsort(left[:, 1], kind="stable")]
    top_right, bottom_right = right[np.argsort(right[:, 1], kind="stable")]
    return np.array([top_left, top_right, bottom_right, bottom_left], dtype=np.float32)
