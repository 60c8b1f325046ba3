"""Lines come in the order in which a person reads them."""

import random

import pytest

from pipeline.ocr.order import in_reading_order
from pipeline.ocr.types import OcrLine


def line(text: str, left: int, top: int, height: int = 20, slant: int = 0) -> OcrLine:
    right, bottom = left + 60, top + height
    return OcrLine(text, 0.9, ((left, top), (right, top + slant), (right, bottom + slant), (left, bottom)))


@pytest.mark.feature("O4")
def test_rows_go_down_and_each_row_goes_right() -> None:
    lines = [line("a", 0, 0), line("b", 100, 4), line("c", 200, -3), line("d", 0, 30), line("e", 100, 33)]

    random.Random(7).shuffle(lines)

    assert [found.text for found in in_reading_order(lines)] == ["a", "b", "c", "d", "e"]


def test_small_print_beside_a_tall_title_stands_in_its_row() -> None:
    lines = [line("price", 200, 12, height=14), line("Title", 0, 0, height=40)]

    assert [found.text for found in in_reading_order(lines)] == ["Title", "price"]


def test_slanted_lines_keep_their_rows() -> None:
    lines = [line("b", 100, 8, slant=4), line("a", 0, 0, slant=4), line("c", 0, 26, slant=4)]

    assert [found.text for found in in_reading_order(lines)] == ["a", "b", "c"]


def test_nothing_in_nothing_out() -> None:
    assert in_reading_order([]) == []
