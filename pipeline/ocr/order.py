"""The order in which a person reads the lines of a picture."""

from collections.abc import Callable, Sequence

from pipeline.ocr.turning import Way
from pipeline.ocr.types import OcrLine, Point

#: Of the lower of two lines: the part of its height by which they must overlap to stand in one row.
_ROW_OVERLAP = 0.5


def in_reading_order(lines: Sequence[OcrLine], way: Way) -> list[OcrLine]:
    """Return the lines by rows, top to bottom, and from left to right in each row, as they are once turned upright.

    Columns are read across. Two lines stand in one row when they overlap by half of the lower one's height.
    """
    turn = _TURNS[(way.is_sideways, way.is_on_its_head)]
    placed = sorted(
        ((_Place([turn(x, y) for x, y in line.box]), line) for line in lines), key=lambda one: one[0].middle
    )
    rows: list[list[tuple[_Place, OcrLine]]] = []
    for place, line in placed:
        if rows and rows[-1][-1][0].shares_row(place):
            rows[-1].append((place, line))
        else:
            rows.append([(place, line)])
    return [line for row in rows for _, line in sorted(row, key=lambda one: one[0].left)]


#: Where a corner comes to lie, apart from a shift, once the picture is turned so that its lines run to the right.
_TURNS: dict[tuple[bool, bool], Callable[[int, int], Point]] = {
    (False, False): lambda x, y: (x, y),
    (False, True): lambda x, y: (-x, -y),
    (True, False): lambda x, y: (y, -x),
    (True, True): lambda x, y: (-y, x),
}


class _Place:
    """Where a line lies on the upright page; top and bottom are means, so that a slant does not widen it."""

    def __init__(self, corners: Sequence[Point]) -> None:
        ys = sorted(y for _, y in corners)
        self.top, self.bottom = (ys[0] + ys[1]) / 2, (ys[2] + ys[3]) / 2
        self.left = min(x for x, _ in corners)
        self.middle = sum(ys) / 4

    def shares_row(self, below: "_Place") -> bool:
        overlap = min(self.bottom, below.bottom) - max(self.top, below.top)
        return overlap > _ROW_OVERLAP * min(self.bottom - self.top, below.bottom - below.top)
