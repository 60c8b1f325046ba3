"""Where a page of prose falls into columns; tables, chats and forms are no such pages."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

#: Lines that a column has at least.
_LEAST_LINES = 3
#: Lines of a page that are looked at: the search takes the square of them, 20 ms here.
_MOST_LINES = 300
#: Width by height of the middle line of a column of prose; cells of tables, labels and prices are shorter.
_PROSE_RATIO = 8.0
#: Of a column's width: what its middle line fills of it.
_FILLED = 0.6
#: Of all lines: those, such as titles, that may stand across both columns.
_ACROSS = 0.25
#: Of a column's lines: those beside a line of the other one. In a chat the two sides take turns instead.
_BESIDE = 0.6


class Place(NamedTuple):
    """Where a line lies on the upright page, px."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle_y(self) -> float:
        return (self.top + self.bottom) / 2


def gutter(places: Sequence[Place]) -> float | None:
    """The x between two columns of prose, or None where a page has one column or is none of prose."""
    if not 2 * _LEAST_LINES <= len(places) <= _MOST_LINES:
        return None
    best: tuple[int, float] | None = None
    for x in sorted({place.right for place in places})[:-1]:
        left = [place for place in places if place.right <= x]
        right = [place for place in places if place.left > x]
        across = len(places) - len(left) - len(right)
        if across > _ACROSS * len(places) or (best is not None and across >= best[0]):
            continue
        if _are_columns(left, right):
            best = across, (x + min(place.left for place in right)) / 2
    return None if best is None else best[1]


def _are_columns(left: Sequence[Place], right: Sequence[Place]) -> bool:
    if not _is_prose(left) or not (_is_prose(right) or gutter(right) is not None):
        return False
    gap = min(place.left for place in right) - max(place.right for place in left)
    return gap >= 0.8 * median(place.height for place in left) and _stand_beside(left, right)


def _is_prose(column: Sequence[Place]) -> bool:
    if len(column) < _LEAST_LINES:
        return False
    width = median(place.right - place.left for place in column)
    extent = max(place.right for place in column) - min(place.left for place in column)
    return width >= _FILLED * extent and width >= _PROSE_RATIO * median(place.height for place in column)


def _stand_beside(left: Sequence[Place], right: Sequence[Place]) -> bool:
    fewer, more = sorted((left, right), key=len)
    beside = sum(any(one.top < other.bottom and other.top < one.bottom for other in more) for one in fewer)
    return beside >= _BESIDE * len(fewer)
