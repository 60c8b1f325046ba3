"""The order in which a person reads the lines of a picture."""

from collections.abc import Callable, Sequence

from pipeline.ocr.columns import Place, gutter
from pipeline.ocr.turning import Way
from pipeline.ocr.types import OcrLine, Point

#: Of the lower of two lines: the part of its height by which they must overlap to stand in one row.
_ROW_OVERLAP = 0.5
#: Columns within columns that are looked for.
_DEEPEST = 3

_Placed = tuple[Place, OcrLine]

#: Where a corner comes to lie, apart from a shift, once the picture is turned so that its lines run to the right.
_TURNS: dict[str, Callable[[int, int], Point]] = {
    "right": lambda x, y: (x, y),
    "left": lambda x, y: (-x, -y),
    "down": lambda x, y: (y, -x),
    "up": lambda x, y: (-y, x),
}


def in_reading_order(lines: Sequence[OcrLine], way: Way) -> list[OcrLine]:
    """Return the lines by columns of prose, in each by rows, top to bottom, and in each row from left to right.

    A line across two columns is read between what stands above and what stands below it. Two lines stand in one row
    when they overlap by half of the lower one's height.
    """
    turn = _TURNS[way.direction]
    return [line for _, line in _ordered([(_place([turn(x, y) for x, y in line.box]), line) for line in lines], 0)]


def _place(corners: Sequence[Point]) -> Place:
    """Where a line lies; top and bottom are means, so that a slant does not widen it."""
    xs, ys = [x for x, _ in corners], sorted(y for _, y in corners)
    return Place(min(xs), (ys[0] + ys[1]) / 2, max(xs), (ys[2] + ys[3]) / 2)


def _ordered(placed: Sequence[_Placed], depth: int) -> list[_Placed]:
    x = gutter([place for place, _ in placed]) if depth < _DEEPEST else None
    if x is None:
        return _by_rows(placed)
    across = _by_rows([one for one in placed if one[0].left < x < one[0].right])
    waiting = [one for one in placed if not one[0].left < x < one[0].right]
    ordered: list[_Placed] = []
    for title in [*across, None]:
        band = [one for one in waiting if title is None or one[0].middle_y < title[0].middle_y]
        waiting = [one for one in waiting if one not in band]
        ordered += _ordered([one for one in band if one[0].right <= x], depth + 1)
        ordered += _ordered([one for one in band if one[0].left >= x], depth + 1)
        ordered += [title] if title else []
    return ordered


def _by_rows(placed: Sequence[_Placed]) -> list[_Placed]:
    rows: list[list[_Placed]] = []
    for place, line in sorted(placed, key=lambda one: one[0].middle_y):
        if rows and _share_row(rows[-1][-1][0], place):
            rows[-1].append((place, line))
        else:
            rows.append([(place, line)])
    return [one for row in rows for one in sorted(row, key=lambda one: one[0].left)]


def _share_row(above: Place, below: Place) -> bool:
    overlap = min(above.bottom, below.bottom) - max(above.top, below.top)
    return overlap > _ROW_OVERLAP * min(above.height, below.height)
