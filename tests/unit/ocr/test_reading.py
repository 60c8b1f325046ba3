"""From a picture to lines: shapes kept from the engine, long pictures, turned pictures, places on the original."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from pipeline.clock import SystemClock
from pipeline.errors import ConfigurationError, EngineCrashed, ImageTooLarge
from pipeline.ocr.engine import Pixels, Reading
from pipeline.ocr.reading import check_engine, find_lines, read_found, read_image
from pipeline.ocr.types import Box, OcrResult
from tests.support.ocr_engines import Scripted, quad
from tests.support.pictures import LIMITS, drawn, encoded


def box(left: int, top: int, right: int, bottom: int) -> Box:
    return (left, top), (right, top), (right, bottom), (left, bottom)


def striped(width_px: int, height_px: int) -> np.ndarray:
    pixels = np.full((height_px, width_px, 3), 255, dtype=np.uint8)
    pixels[:: max(2, height_px // 4)] = 0
    return pixels


def read(picture: Image.Image, engine: Scripted) -> OcrResult:
    return read_image(encoded(picture), LIMITS, engine, SystemClock())


@pytest.mark.feature("O7")
@pytest.mark.parametrize("size", [(1, 1), (1, 4000), (4000, 7), (7, 600)])
def test_strip_too_thin_for_text_is_empty_and_never_reaches_the_engine(size: tuple[int, int]) -> None:
    engine = Scripted(lambda pixels: [quad(0, 0, 9, 9)])

    found = find_lines(striped(*size), engine, LIMITS)

    assert (found.quads, found.tiles, engine.shapes) == ([], 0, [])


@pytest.mark.parametrize("shade", [0, 255])
def test_blank_picture_is_an_honest_empty_result(shade: int) -> None:
    engine = Scripted(lambda pixels: [quad(0, 0, 9, 9)])
    result = read(Image.new("L", (300, 200), shade), engine)

    assert (result.lines, result.text, result.line_count, result.mean_confidence) == ((), "", 0, 0.0)
    assert (result.width_px, result.height_px, result.tiles) == (300, 200, 0)
    assert engine.shapes == []


@pytest.mark.parametrize(
    ("size", "shape"), [((8, 600), (600, 32, 3)), ((600, 9), (33, 600, 3)), ((40, 50), (50, 40, 3))]
)
def test_short_side_is_padded_for_the_engine(size: tuple[int, int], shape: tuple[int, ...]) -> None:
    engine = Scripted(lambda pixels: [quad(0, 0, 30, 30)])

    find_lines(striped(*size), engine, LIMITS)

    assert engine.shapes[0] == shape


def test_boxes_on_a_padded_picture_stay_inside_it() -> None:
    engine = Scripted(lambda pixels: [quad(20, 2, 60, 32)])

    lines, _ = read_found(find_lines(striped(100, 10), engine, replace(LIMITS, longest_side_px=100)), 1.0, engine)

    assert lines[0].box == box(20, 0, 60, 10)


def test_boxes_are_scaled_to_the_original() -> None:
    result = read(drawn(size=(3840, 2000)), Scripted(lambda pixels: [quad(10, 20, 100, 40)]))

    assert result.scale == 0.5
    assert result.lines[0].box == box(20, 40, 200, 80)


@pytest.mark.feature("O4")
def test_result_says_how_it_came_about() -> None:
    result = read(drawn(size=(600, 400)), Scripted(lambda pixels: [quad(10, 20, 100, 40)]))

    assert set(result.duration_ms) == {"decode", "find", "read"}
    assert (result.tiles, result.direction) == (1, "right")


@pytest.mark.feature("O3")
def test_long_picture_is_searched_in_tiles_and_each_line_is_read_once() -> None:
    lines_px = range(100, 5000, 100)
    picture = Image.new("RGB", (900, 5000), "white")
    for top in lines_px:
        picture.paste((0, 0, 0), (10, top, 800, top + 30))

    def find(pixels: np.ndarray) -> list[np.ndarray]:
        shrunk = pixels.shape[1] / 900
        is_ink = np.concatenate([[False], pixels[:, int(400 * shrunk), 0] < 128, [False]])
        edges = np.flatnonzero(np.diff(is_ink.astype(int)))
        tops_and_bottoms = zip(edges[::2], edges[1::2], strict=True)
        return [quad(10 * shrunk, top, 800 * shrunk, bottom) for top, bottom in tops_and_bottoms]

    engine = Scripted(find)
    result = read(picture, engine)

    expected = np.array([box(10, top, 800, top + 30) for top in lines_px])
    assert np.allclose(np.array([line.box for line in result.lines]), expected, atol=2)
    assert len(engine.lines) == len(lines_px)
    assert result.tiles == len(engine.shapes) == 4
    assert result.scale == 1.0


def test_blank_tiles_are_not_shown_to_the_engine() -> None:
    picture = Image.new("RGB", (900, 5000), "white")
    picture.paste((0, 0, 0), (10, 4900, 800, 4930))
    engine = Scripted(lambda pixels: [])

    assert read(picture, engine).tiles == 4
    assert len(engine.shapes) == 1


def test_page_on_its_head_is_read_turned() -> None:
    def say(line: np.ndarray) -> Reading:
        return Reading("first", 0.98) if line[2, 9, 0] < 128 else Reading("tsrif", 0.6)

    picture = Image.new("RGB", (200, 100), "white")
    places = [(100, 70, 190, 95), (90, 40, 190, 65)]
    for _, _, right, bottom in places:
        picture.paste((0, 0, 0), (right - 12, bottom - 6, right, bottom))

    engine = Scripted(lambda pixels: [quad(*place) for place in places], say)
    result = read(picture, engine)

    assert [line.box[0] for line in result.lines] == [(190, 95), (190, 65)]
    assert result.direction == "left"


def test_lines_of_white_space_and_doubtful_ones_are_left_out() -> None:
    said = {94: Reading(" \u3000", 0.99), 64: Reading("x", 0.99), 34: Reading("noise", 0.4)}
    engine = Scripted(
        lambda pixels: [quad(3, top, 3 + width, top + 10) for top, width in ((0, 90), (20, 60), (40, 30))],
        lambda line: said[line.shape[1]],
    )
    found = find_lines(striped(100, 100), engine, LIMITS)

    assert [line.text for line in read_found(found, 1.0, engine)[0]] == ["x"]


@pytest.mark.feature("O7")
def test_crowded_picture_is_refused_before_anything_is_read() -> None:
    engine = Scripted(lambda pixels: [quad(0, 300 - row * 40, 90, 320 - row * 40) for row in range(8)])

    with pytest.raises(ImageTooLarge, match="more than 5 lines of text"):
        read_image(encoded(drawn(size=(400, 400))), replace(LIMITS, max_lines=5), engine, SystemClock())

    assert engine.lines == []


def test_engine_that_reads_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="scripted"):
        check_engine(Scripted(lambda pixels: []))


@pytest.mark.feature("O2")
def test_small_text_is_read_enlarged() -> None:
    engine = Scripted(lambda pixels: [quad(10, 20, 100, 20 + pixels.shape[0] / 25)])

    result = read(drawn(size=(400, 300)), engine)

    assert engine.shapes == [(300, 400, 3), (600, 800, 3)]
    assert result.scale == 2.0
    assert result.lines[0].box == box(5, 10, 50, 22)


def test_enlarged_picture_stays_within_the_longest_side() -> None:
    engine = Scripted(lambda pixels: [quad(10, 20, 100, 32)])

    assert read(drawn(size=(1280, 700)), engine).scale == 1.5
    assert read(drawn(size=(1800, 700)), engine).scale == 1.0


def test_small_picture_in_which_nothing_was_found_is_looked_at_once_more() -> None:
    engine = Scripted(lambda pixels: [])

    assert read(drawn(size=(300, 100)), engine).lines == ()
    assert engine.shapes == [(100, 300, 3), (200, 600, 3)]


def test_icon_that_reads_as_a_doubtful_sign_is_no_text() -> None:
    said = {64: Reading("■", 0.7), 84: Reading("——", 0.9)}
    engine = Scripted(
        lambda pixels: [quad(10, 20, 70, 40), quad(10, 50, 90, 70)],
        lambda line: said[min(said, key=lambda width: abs(width - line.shape[1]))],
    )

    assert read(drawn(size=(400, 300)), engine).text == "——"


@pytest.mark.parametrize(("confidence", "texts"), [(0.91, ["a", "b", "c"]), (0.99, ["a", "b", "c", "口"])])
def test_photograph_that_reads_as_one_doubtful_sign_is_no_text(confidence: float, texts: list[str]) -> None:
    places = [quad(10, 10, 210, 220), *(quad(10, top, 190, top + 30) for top in (240, 280, 320))]
    said = iter("abc")
    engine = Scripted(
        lambda pixels: places,
        lambda line: Reading("口", confidence) if line.shape[0] > 100 else Reading(next(said), 0.99),
    )

    assert sorted(line.text for line in read(drawn(size=(400, 400)), engine).lines) == texts


class Forgetful(Scripted):
    """Says something of all lines but the last, or of one that it was never shown."""

    def __init__(self, surplus: int) -> None:
        super().__init__(lambda pixels: [quad(0, 40 * row, 90, 40 * row + 20) for row in range(8)])
        self._surplus = surplus

    def read(self, lines: Sequence[Pixels]) -> Sequence[Reading]:
        return [Reading("x", 0.99)] * (len(lines) + self._surplus)


@pytest.mark.feature("M4")
@pytest.mark.parametrize("surplus", [-1, 1])
def test_engine_that_says_more_or_less_than_it_was_shown_has_failed(surplus: int) -> None:
    with pytest.raises(EngineCrashed, match=r"was shown . lines and read ."):
        read_image(encoded(drawn(size=(400, 400))), LIMITS, Forgetful(surplus), SystemClock())
