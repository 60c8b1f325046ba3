"""Lines too long for a reader are cut where nothing is written, and come back whole."""

import numpy as np
import pytest

from pipeline.ocr.engine import Reading
from pipeline.ocr.pieces import read_in_pieces
from tests.support.ocr_engines import Scripted


def barred(width_px: int, pitch_px: int, gap_px: int, height_px: int = 20) -> np.ndarray:
    """A bar of ink every so many px, with gaps between."""
    line = np.full((height_px, width_px, 3), 250, dtype=np.uint8)
    for left in range(0, width_px, pitch_px):
        line[2:18, left : left + pitch_px - gap_px] = 10
    return line


def bars(line: np.ndarray) -> Reading:
    is_ink = np.concatenate([[False], line[10, :, 0] < 128, [False]])
    return Reading("x" * int(np.count_nonzero(np.diff(is_ink.astype(int)) > 0)), 0.9)


@pytest.mark.parametrize("width_px", [20, 400, 800])
def test_line_of_usual_length_is_read_whole(width_px: int) -> None:
    line = barred(width_px, 10, 3)
    engine = Scripted(lambda pixels: [], bars)

    assert read_in_pieces([line], engine) == [bars(line)]
    assert engine.lines == [line.shape]


@pytest.mark.feature("O3")
@pytest.mark.parametrize("width_px", [801, 2000, 12_000])
def test_long_line_loses_and_doubles_nothing(width_px: int) -> None:
    line = barred(width_px, 10, 3)
    engine = Scripted(lambda pixels: [], bars)

    (reading,) = read_in_pieces([line], engine)

    assert reading.text == bars(line).text
    assert reading.confidence == pytest.approx(0.9)
    assert max(shape[1] for shape in engine.lines) <= 600


def test_wide_gap_at_a_cut_is_a_space() -> None:
    engine = Scripted(lambda pixels: [], lambda line: Reading("word", 0.9))

    (reading,) = read_in_pieces([barred(1000, 100, 12)], engine)

    assert reading.text == "word word"


def test_line_without_any_gap_is_cut_all_the_same() -> None:
    engine = Scripted(lambda pixels: [])

    (reading,) = read_in_pieces([np.random.default_rng(1).integers(0, 255, (8, 600, 3), dtype=np.uint8)], engine)

    assert set(reading.text) == {"x"}
    assert sum(shape[1] for shape in engine.lines) == 600


def test_each_line_gets_its_own_text() -> None:
    engine = Scripted(lambda pixels: [], bars)
    lines = [barred(100, 10, 3), barred(1500, 10, 3), barred(50, 10, 3)]

    assert [len(reading.text) for reading in read_in_pieces(lines, engine)] == [10, 150, 5]
