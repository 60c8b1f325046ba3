"""The way a picture is turned is told by a few of its lines."""

import numpy as np
import pytest

from pipeline.ocr.engine import Reading
from pipeline.ocr.turning import Way, read_turned
from tests.support.ocr_engines import Scripted, quad

DOWN = [quad(left, 10, left + 20, 200) for left in (20, 60, 100, 140, 180)]
ACROSS = [quad(10, top, 200, top + 20) for top in (20, 60, 100, 140, 180)]


def marked(quads: list[np.ndarray], corner: int) -> np.ndarray:
    """A page on which each line has a mark at that corner, counted clockwise from its top left: there it begins."""
    pixels = np.full((300, 300, 3), 250, dtype=np.uint8)
    for line in quads:
        x, y = (int(value) for value in line[corner])
        middle_x, middle_y = line.mean(axis=0)
        left, top = (x if x < middle_x else x - 8), (y if y < middle_y else y - 8)
        pixels[top : top + 8, left : left + 8] = 0
    return pixels


def by_mark(line: np.ndarray) -> Reading:
    """Sure of itself where the mark is at the top left."""
    is_upright = line.shape[1] > line.shape[0] and line[3, 8, 0] < 128
    return Reading("upright" if is_upright else "garbled", 0.98 if is_upright else 0.6)


@pytest.mark.feature("O4")
@pytest.mark.parametrize(
    ("quads", "corner", "direction"), [(ACROSS, 0, "right"), (DOWN, 1, "down"), (ACROSS, 2, "left"), (DOWN, 3, "up")]
)
def test_lines_that_run_anywhere_are_read(quads: list[np.ndarray], corner: int, direction: str) -> None:
    engine = Scripted(lambda pixels: [], by_mark)

    readings, way = read_turned(marked(quads, corner), quads, engine)

    assert way.direction == direction
    assert [reading.text for reading in readings] == ["upright"] * 5
    assert all((way.begun(line)[0] == line[corner]).all() for line in quads)


def test_upright_page_reads_no_line_twice() -> None:
    engine = Scripted(lambda pixels: [], by_mark)

    read_turned(marked(ACROSS, 0), ACROSS, engine)

    assert len(engine.lines) == 5


def test_page_that_is_read_badly_either_way_stays_as_it_is() -> None:
    engine = Scripted(lambda pixels: [], lambda line: Reading("blurred", 0.7))

    readings, way = read_turned(marked(ACROSS, 0), ACROSS, engine)

    assert way.direction == "right"
    assert len(engine.lines) == 5 + 4
    assert len(readings) == 5


def test_one_column_beside_a_page_does_not_turn_it() -> None:
    engine = Scripted(lambda pixels: [], lambda line: Reading("text", 0.99))

    _, way = read_turned(np.full((300, 300, 3), 250, dtype=np.uint8), [*ACROSS, DOWN[4]], engine)

    assert way.direction == "right"
    assert (way.begun(DOWN[4])[0] == DOWN[4][1]).all()


def test_lone_stroke_among_upright_lines_is_read_as_it_stands() -> None:
    stroke = quad(220, 20, 230, 45)
    engine = Scripted(
        lambda pixels: [],
        lambda line: Reading("I", 0.95) if line.shape[0] > line.shape[1] else Reading("一", 0.9),
    )

    readings, _ = read_turned(np.full((300, 300, 3), 250, dtype=np.uint8), [*ACROSS, stroke], engine)

    assert readings[-1].text == "I"


def test_comma_of_a_column_of_characters_is_no_apostrophe() -> None:
    engine = Scripted(lambda pixels: [], lambda line: Reading("黄河’入海流 it's", 0.99))

    (reading,), _ = read_turned(np.full((300, 300, 3), 250, dtype=np.uint8), DOWN[:1], engine)

    assert reading.text == "黄河，入海流 it's"


def test_nothing_found_is_upright() -> None:
    readings, way = read_turned(np.zeros((9, 9, 3), dtype=np.uint8), [], Scripted(lambda pixels: []))

    assert (readings, way.direction) == ([], Way(is_sideways=False, is_on_its_head=False).direction)
