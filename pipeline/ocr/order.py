"""The order in which a person reads the lines of a picture."""

from collections.abc import Sequence

from pipeline.ocr.types import OcrLine

#: Of the lower of two lines: the part of its height by which they must overlap to stand in one row.
_ROW_OVERLAP = 0.5


def in_reading_order(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """Return the lines by rows, top to bottom, and from left to right in each row.

    Columns are read across. Two lines stand in one row when they overlap by half of the lower one's height.
    """
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=_middle_y):
        if rows and _share_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: min(x for x, _ in line.box))]


def _middle_y(line: OcrLine) -> float:
    return sum(y for _, y in line.box) / 4


def _share_row(above: OcrLine, below: OcrLine) -> bool:
    (top_a, bottom_a), (top_b, bottom_b) = _extent(above), _extent(below)
    overlap = min(bottom_a, bottom_b) - max(top_a, top_b)
    return overlap > _ROW_OVERLAP * min(bottom_a - top_a, bottom_b - top_b)


def _extent(line: OcrLine) -> tuple[float, float]:
    """Top and bottom: the means of the upper and the lower corners, so that a slant does not widen a line."""
    ys = sorted(y for _, y in line.box)
    return (ys[0] + ys[1]) / 2, (ys[2] + ys[3]) / 2
