"""Text read from an image: over which breaks of lines a word may go on, and where in the lines a hit lies."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.detector.characters import Kind, characters
from pipeline.detector.findings import Box, Point, Segment

#: Lines of one paragraph: distance and shift against the height of the line, and heights against one another.
_DISTANCE_MAX = 1.2
_HEIGHT_RATIO_MAX = 1.6


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; `box` in px, clockwise from the top left; None: its neighbours are those before and after it."""

    text: str
    box: Box | None = None


class Page:
    """Lines in reading order, and the text that they make, a line feed between each and the next."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines: Sequence[Line] = tuple(lines)
        self.text = "\n".join(line.text for line in self.lines)
        self._starts = [0]
        for line in self.lines[:-1]:
            self._starts.append(self._starts[-1] + len(line.text) + 1)

    @property
    def joins(self) -> frozenset[int]:
        """Places in `text` of the breaks over which a word may go on: those between lines that are neighbours."""
        pairs = zip(self.lines, self.lines[1:], strict=False)
        return frozenset(
            start - 1
            for start, (before, after) in zip(self._starts[1:], pairs, strict=False)
            if _are_neighbours(before.box, after.box)
        )

    def segments(self, start: int, end: int) -> tuple[Segment, ...]:
        """Return the parts of a span of `text`, line by line."""
        found = []
        for index in range(bisect_right(self._starts, start) - 1, len(self.lines)):
            line, offset = self.lines[index], self._starts[index]
            if offset >= end:
                break
            first, last = max(0, start - offset), min(len(line.text), end - offset)
            if first < last:
                found.append(Segment(index, first, last, line.box and _part_of(line.box, line.text, first, last)))
        return tuple(found)

    def surface(self, segments: Iterable[Segment]) -> str:
        """The characters of a hit, without the breaks that it goes over."""
        return "".join(self.lines[one.line].text[one.start : one.end] for one in segments)


def _are_neighbours(before: Box | None, after: Box | None) -> bool:
    """Say whether one line goes on in the other: the next below it, or beside it at the same height."""
    if before is None or after is None:
        return before is after
    left, top, right, bottom = _bounds(before)
    next_left, next_top, next_right, next_bottom = _bounds(after)
    height, next_height = max(bottom - top, 1), max(next_bottom - next_top, 1)
    if max(height, next_height) > _HEIGHT_RATIO_MAX * min(height, next_height):
        return False
    reach = _DISTANCE_MAX * max(height, next_height)
    is_below = next_top >= top + height / 2 and next_top - bottom <= reach and next_left < right and next_right > left
    is_beside = abs(next_top - top) <= height / 2 and 0 <= next_left - right + height / 2 <= reach + height / 2
    return is_below or is_beside


def _bounds(box: Box) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in box], [y for _, y in box]
    return min(xs), min(ys), max(xs), max(ys)


def _part_of(box: Box, text: str, start: int, end: int) -> Box:
    """About the box of a part of a line: wide characters count two, others one."""
    widths = [_width_of(char) for char in text]
    total = sum(widths) or 1
    from_, to = sum(widths[:start]) / total, sum(widths[:end]) / total
    a, b, c, d = box
    return _between(a, b, from_), _between(a, b, to), _between(d, c, to), _between(d, c, from_)


def _width_of(char: str) -> int:
    if char >= "\u1100" and characters().kind[ord(char)] in (Kind.OTHER, Kind.NUMERAL, Kind.CLAUSE, Kind.SENTENCE):
        return 2
    return 1


def _between(first: Point, last: Point, share: float) -> Point:
    return round(first[0] + (last[0] - first[0]) * share, 1), round(first[1] + (last[1] - first[1]) * share, 1)
