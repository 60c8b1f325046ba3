"""Which way up the lines of a picture stand: told once, by a few of them, and for nothing where it is upright."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pipeline.ocr.engine import Engine, Pixels, Quad, Reading, read_all
from pipeline.ocr.pieces import read_in_pieces
from pipeline.ocr.quads import TALL_RATIO, cut_out, grown, is_tall, sides, turned

#: Lines that are read to tell.
_SAMPLE = 4
#: Width by height that a line of the sample should have: long enough to be sure, short enough to be cheap.
_GOOD_RATIO = 8.0
#: Lines that stand upright are read with more than this, lines on their head with 0.67 at most (docs/why/ocr.md).
_SURE = 0.85
#: By how much lines must read better on their head before the picture is held to stand on it.
_BETTER = 0.05
#: A picture lies on its side when the lines that run downwards are this many times as long as all the others.
_SIDEWAYS = 3.0

#: Height by width from which a tall line among upright ones is surely a column.
_COLUMN_RATIO = 3.0
#: Between two Chinese characters, or after the last one.
_LYING_COMMA = re.compile(r"(?<=[\u3400-\u9fff])['’‘](?=[\u3400-\u9fff]|$)")

#: How often the corners of a line are shifted so that the one where its text begins is the first.
_UPRIGHT, _RUNS_UP, _ON_ITS_HEAD, _RUNS_DOWN = range(4)


class Way:
    """How the lines of one picture are turned.

    Args:
        is_sideways: most lines run downwards or upwards.
        is_on_its_head: lines are upside down, or run upwards.
    """

    def __init__(self, *, is_sideways: bool, is_on_its_head: bool) -> None:
        self.is_sideways = is_sideways
        self.is_on_its_head = is_on_its_head

    @property
    def direction(self) -> str:
        """Where the lines run to, as the picture stands: `right`, or `down`, `left` (on its head), `up`."""
        if self.is_sideways:
            return "up" if self.is_on_its_head else "down"
        return "left" if self.is_on_its_head else "right"

    def begun(self, quad: Quad) -> Quad:
        """The corners of a line, the one where its text begins first."""
        if is_tall(quad) or (self.is_sideways and not _is_wide(quad)):
            return turned(quad, _RUNS_UP if self.is_on_its_head else _RUNS_DOWN)
        return turned(quad, _ON_ITS_HEAD if self.is_on_its_head else _UPRIGHT)


def read_turned(pixels: Pixels, quads: Sequence[Quad], engine: Engine) -> tuple[list[Reading], Way]:
    """Read lines, and tell how they are turned: upright ones are read once each, a few of all others twice."""
    sample, is_sideways = _sample_of(quads)
    known, way = _tell(pixels, [quads[place] for place in sample], engine, is_sideways=is_sideways)
    rest = sorted(set(range(len(quads))) - set(sample))
    said = dict(zip(sample, known, strict=True))
    said.update(zip(rest, read_lines(pixels, [quads[place] for place in rest], way, engine), strict=True))
    if not way.is_sideways:
        said.update(_read_standing(pixels, quads, said, way, engine))
    return [said[place] for place in range(len(quads))], way


def _read_standing(
    pixels: Pixels, quads: Sequence[Quad], said: Mapping[int, Reading], way: Way, engine: Engine
) -> dict[int, Reading]:
    """Of short tall lines among upright ones, those that say more as they stand: an I is no column."""
    places = [place for place in said if is_tall(quads[place]) and _ratio(quads[place]) < _COLUMN_RATIO]
    up = _ON_ITS_HEAD if way.is_on_its_head else _UPRIGHT
    standing = read_all(engine, [cut_out(pixels, turned(quads[place], up)) for place in places])
    return {
        place: reading
        for place, reading in zip(places, standing, strict=True)
        if reading.confidence > said[place].confidence
    }


def _sample_of(quads: Sequence[Quad]) -> tuple[list[int], bool]:
    """The places of the lines that shall tell, and whether most lines run downwards."""
    tall = {place for place, quad in enumerate(quads) if is_tall(quad)}
    others = set(range(len(quads))) - tall
    is_sideways = _length(quads, tall) > _SIDEWAYS * _length(quads, others)
    by_shape = sorted(tall if is_sideways else others, key=lambda place: abs(_ratio(quads[place]) - _GOOD_RATIO))
    return by_shape[:_SAMPLE], is_sideways


def _tell(
    pixels: Pixels, sample: Sequence[Quad], engine: Engine, *, is_sideways: bool
) -> tuple[Sequence[Reading], Way]:
    upright = Way(is_sideways=is_sideways, is_on_its_head=False)
    as_it_stands = read_lines(pixels, sample, upright, engine)
    if not sample or _confidence(as_it_stands) >= _SURE:
        return as_it_stands, upright
    on_its_head = Way(is_sideways=is_sideways, is_on_its_head=True)
    overturned = read_lines(pixels, sample, on_its_head, engine)
    if _confidence(overturned) > _confidence(as_it_stands) + _BETTER:
        return overturned, on_its_head
    return as_it_stands, upright


def read_lines(pixels: Pixels, quads: Sequence[Quad], way: Way, engine: Engine) -> list[Reading]:
    """Read lines that are turned that way."""
    height, width = pixels.shape[:2]
    said = read_in_pieces([cut_out(pixels, way.begun(grown(quad, (width, height)))) for quad in quads], engine)
    if way.direction != "down":
        return said
    # The reader sees a column of characters lying on its side, and there a comma looks like an apostrophe.
    return [reading._replace(text=_LYING_COMMA.sub("，", reading.text)) for reading in said]


def _is_wide(quad: Quad) -> bool:
    width, height = sides(quad)
    return width >= TALL_RATIO * height


def _ratio(quad: Quad) -> float:
    return max(sides(quad)) / max(1.0, min(sides(quad)))


def _length(quads: Sequence[Quad], places: Iterable[int]) -> float:
    return sum(max(sides(quads[place])) for place in places)


def _confidence(readings: Sequence[Reading]) -> float:
    """By character, so that a long line counts for more than a short one."""
    if not readings:
        return 0.0
    weights = [len(reading.text) + 1 for reading in readings]
    return float(np.average([reading.confidence for reading in readings], weights=weights))
