"""From a picture to lines: shapes kept from the engine, upside-down pages, places on the original."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from PIL import Image

from pipeline.clock import SystemClock
from pipeline.errors import ConfigurationError
from pipeline.ocr.reading import check_engine, read_image, read_pixels
from pipeline.ocr.types import Box, OcrLine
from tests.support.pictures import LIMITS, drawn, encoded


def box(left: int, top: int, right: int, bottom: int) -> Box:
    return (left, top), (right, top), (right, bottom), (left, bottom)


class Scripted:
    """Answers by a function of the picture, and keeps the shapes it was shown."""

    name, model = "scripted", "none"

    def __init__(self, answer: Callable[[np.ndarray], list[OcrLine]]) -> None:
        self.answer = answer
        self.shapes: list[tuple[int, ...]] = []

    def read(self, pixels: np.ndarray) -> Sequence[OcrLine]:
        self.shapes.append(pixels.shape)
        return self.answer(pixels)


def striped(width_px: int, height_px: int) -> np.ndarray:
    pixels = np.full((height_px, width_px, 3), 255, dtype=np.uint8)
    pixels[:: max(2, height_px // 4)] = 0
    return pixels


def sure(*places: tuple[str, Box]) -> Callable[[np.ndarray], list[OcrLine]]:
    return lambda pixels: [OcrLine(text, 0.99, place) for text, place in places]


@pytest.mark.feature("O7")
@pytest.mark.parametrize("size", [(1, 1), (1, 4000), (4000, 7), (7, 600)])
def test_strip_too_thin_for_text_is_empty_and_never_reaches_the_engine(size: tuple[int, int]) -> None:
    engine = Scripted(sure(("ghost", box(0, 0, 9, 9))))

    assert read_pixels(striped(*size), engine) == []
    assert engine.shapes == []


@pytest.mark.parametrize("shade", [0, 255])
def test_blank_picture_is_an_honest_empty_result(shade: int) -> None:
    engine = Scripted(sure(("ghost", box(0, 0, 9, 9))))
    result = read_image(encoded(Image.new("L", (300, 200), shade)), LIMITS, engine, SystemClock())

    assert (result.lines, result.text, result.line_count, result.mean_confidence) == ((), "", 0, 0.0)
    assert (result.width_px, result.height_px) == (300, 200)
    assert engine.shapes == []


@pytest.mark.parametrize(
    ("size", "shape"), [((8, 600), (600, 32, 3)), ((600, 9), (33, 600, 3)), ((40, 50), (50, 40, 3))]
)
def test_short_side_is_padded_for_the_engine(size: tuple[int, int], shape: tuple[int, ...]) -> None:
    engine = Scripted(sure(("x", box(0, 0, 5, 5))))

    read_pixels(striped(*size), engine)

    assert engine.shapes == [shape]


def test_boxes_on_a_padded_picture_stay_inside_it() -> None:
    engine = Scripted(sure(("x", box(2, 0, 29, 40))))

    (line,) = read_pixels(striped(10, 100), engine)

    assert line.box == box(0, 0, 10, 40)


def test_boxes_are_scaled_to_the_original() -> None:
    engine = Scripted(sure(("x", box(10, 20, 100, 40))))

    result = read_image(encoded(drawn(size=(3840, 1000))), LIMITS, engine, SystemClock())

    assert result.scale == 0.5
    assert result.lines[0].box == box(20, 40, 200, 80)
    assert set(result.duration_ms) == {"decode", "read"}


def test_page_on_its_head_is_read_turned_and_its_boxes_are_turned_back() -> None:
    def answer(pixels: np.ndarray) -> list[OcrLine]:
        is_turned = pixels[-1, 0, 0] == 0
        if is_turned:
            return [OcrLine("first", 0.98, box(10, 10, 50, 20)), OcrLine("second", 0.98, box(10, 30, 50, 40))]
        return [OcrLine("tsril", 0.6, box(0, 0, 40, 10))]

    engine = Scripted(answer)
    pixels = np.full((100, 200, 3), 255, dtype=np.uint8)
    pixels[0] = 0

    lines = read_pixels(pixels, engine)

    assert [line.text for line in lines] == ["first", "second"]
    assert lines[0].box == box(150, 80, 190, 90)


def test_unsure_page_stays_as_it_is_when_turning_finds_less() -> None:
    def answer(pixels: np.ndarray) -> list[OcrLine]:
        return [OcrLine("blurred words" if pixels[0, 0, 0] == 0 else "x", 0.7, box(0, 0, 40, 10))]

    pixels = np.full((100, 200, 3), 255, dtype=np.uint8)
    pixels[0] = 0

    assert [line.text for line in read_pixels(pixels, Scripted(answer))] == ["blurred words"]


def test_lines_of_white_space_are_left_out() -> None:
    engine = Scripted(sure((" \u3000", box(0, 0, 9, 9)), ("x", box(0, 20, 9, 29))))

    assert [line.text for line in read_pixels(striped(100, 100), engine)] == ["x"]


def test_engine_that_reads_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="scripted"):
        check_engine(Scripted(lambda pixels: []))
