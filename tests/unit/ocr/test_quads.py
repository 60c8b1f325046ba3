"""Corners of lines: their picture, their parts, their union."""

import numpy as np
import pytest

from pipeline.ocr.quads import bounds, box_of, cut_out, grown, is_tall, sides, thickness, turned, united
from tests.support.ocr_engines import quad


def test_sides_are_measured_along_the_line() -> None:
    slanted = np.array([[0, 0], [80, 60], [74, 68], [-6, 8]], dtype=np.float32)

    assert sides(slanted) == (100, 10)
    assert thickness(slanted) == 10


@pytest.mark.parametrize(("size", "is_one"), [((10, 15), True), ((10, 14), False), ((30, 10), False)])
def test_line_runs_down_from_one_and_a_half_on(size: tuple[int, int], is_one: bool) -> None:
    assert is_tall(quad(0, 0, *size)) is is_one


@pytest.mark.parametrize(("quarters", "corner"), [(0, (2, 2)), (1, (-3, 2)), (2, (-3, -3)), (3, (2, -3))])
def test_turned_line_begins_where_its_first_corner_was(quarters: int, corner: tuple[int, int]) -> None:
    pixels = np.zeros((60, 100, 3), dtype=np.uint8)
    pixels[10:16, 20:26] = 255

    line = cut_out(pixels, turned(quad(20, 10, 80, 40), quarters))

    assert line.shape[:2] == ((30, 60) if quarters % 2 == 0 else (60, 30))
    assert line[corner[1], corner[0], 0] > 128


def test_line_grows_at_its_ends_and_stays_in_the_picture() -> None:
    assert bounds(grown(quad(30, 10, 80, 20), (100, 50))) == (28, 10, 82, 20)
    assert bounds(grown(quad(30, 10, 40, 49), (100, 50))) == (30, 8, 40, 50)


def test_part_of_a_line_adds_nothing_to_it() -> None:
    whole = quad(0, 0, 100, 20)

    assert united(quad(0, 12, 100, 21), whole) is whole


def test_two_ends_of_a_line_make_one() -> None:
    one = united(quad(0, 0, 100, 20), quad(90, 1, 300, 21))

    assert np.allclose(bounds(one), (0, 0, 300, 21), atol=1)
    assert one[0][0] < one[1][0]
    assert one[0][1] < one[3][1]


def test_box_is_that_of_the_original() -> None:
    assert box_of(quad(1, 2, 11, 6), 0.5) == ((2, 4), (22, 4), (22, 12), (2, 12))


def test_line_at_the_end_of_a_very_long_picture_is_cut_out() -> None:
    pixels = np.full((40_000, 64, 3), 7, dtype=np.uint8)

    assert (cut_out(pixels, quad(4, 39_950, 60, 39_970)) == 7).all()
