"""Lines come in the order in which a person reads them."""

import random

import pytest

from pipeline.ocr.order import in_reading_order
from pipeline.ocr.turning import Way
from pipeline.ocr.types import OcrLine

UPRIGHT = Way(is_sideways=False, is_on_its_head=False)


def line(text: str, left: int, top: int, height: int = 20, slant: int = 0) -> OcrLine:
    right, bottom = left + 60, top + height
    return OcrLine(text, 0.9, ((left, top), (right, top + slant), (right, bottom + slant), (left, bottom)))


@pytest.mark.feature("O4")
def test_rows_go_down_and_each_row_goes_right() -> None:
    lines = [line("a", 0, 0), line("b", 100, 4), line("c", 200, -3), line("d", 0, 30), line("e", 100, 33)]

    random.Random(7).shuffle(lines)

    assert [found.text for found in in_reading_order(lines, UPRIGHT)] == ["a", "b", "c", "d", "e"]


def test_small_print_beside_a_tall_title_stands_in_its_row() -> None:
    lines = [line("price", 200, 12, height=14), line("Title", 0, 0, height=40)]

    assert [found.text for found in in_reading_order(lines, UPRIGHT)] == ["Title", "price"]


def test_slanted_lines_keep_their_rows() -> None:
    lines = [line("b", 100, 8, slant=4), line("a", 0, 0, slant=4), line("c", 0, 26, slant=4)]

    assert [found.text for found in in_reading_order(lines, UPRIGHT)] == ["a", "b", "c"]


def test_nothing_in_nothing_out() -> None:
    assert in_reading_order([], UPRIGHT) == []


def column(text: str, left: int, top: int) -> OcrLine:
    return OcrLine(text, 0.9, ((left + 20, top), (left + 20, top + 200), (left, top + 200), (left, top)))


@pytest.mark.feature("O4")
def test_columns_of_characters_go_from_right_to_left() -> None:
    columns = [column("second", 60, 0), column("first", 100, 2), column("third", 20, -2)]

    found = in_reading_order(columns, Way(is_sideways=True, is_on_its_head=False))

    assert [line.text for line in found] == ["first", "second", "third"]


def test_page_on_its_head_is_read_from_its_end() -> None:
    lines = [line("d", 0, 0), line("c", 100, 3), line("b", 0, 60), line("a", 100, 61)]

    found = in_reading_order(lines, Way(is_sideways=False, is_on_its_head=True))

    assert [line.text for line in found] == ["a", "b", "c", "d"]


def test_page_whose_lines_run_upwards_is_read_from_the_left() -> None:
    columns = [column("second", 60, 0), column("third", 100, 2), column("first", 20, -2)]

    found = in_reading_order(columns, Way(is_sideways=True, is_on_its_head=True))

    assert [line.text for line in found] == ["first", "second", "third"]
