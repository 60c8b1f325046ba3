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


def prose(text: str, left: int, top: int, width: int = 300) -> OcrLine:
    return OcrLine(text, 0.9, ((left, top), (left + width, top), (left + width, top + 20), (left, top + 20)))


def texts_of(lines: list[OcrLine]) -> list[str]:
    return [found.text for found in in_reading_order(lines, UPRIGHT)]


@pytest.mark.feature("O4")
@pytest.mark.parametrize("shift_px", [0, 13])
def test_columns_of_prose_are_read_one_after_the_other(shift_px: int) -> None:
    left = [prose(f"left {row}", 0, 100 + 30 * row) for row in range(5)]
    right = [prose(f"right {row}", 340, 100 + shift_px + 30 * row) for row in range(5)]
    lines = [prose("title", 100, 20, 400), *left, *right, prose("foot", 80, 300, 420)]

    random.Random(3).shuffle(lines)

    sides = [f"{side} {row}" for side in ("left", "right") for row in range(5)]
    assert texts_of(lines) == ["title", *sides, "foot"]


def test_three_columns_are_three() -> None:
    lines = [prose(f"{column} {row}", 340 * column, 30 * row) for row in range(6) for column in range(3)]

    assert texts_of(lines) == [f"{column} {row}" for column in range(3) for row in range(6)]


def test_table_is_read_by_rows() -> None:
    lines = [line(f"{row} {column}", 120 * column, 30 * row) for row in range(6) for column in range(4)]

    assert texts_of(lines) == [f"{row} {column}" for row in range(6) for column in range(4)]


def test_labels_and_their_values_are_read_by_rows() -> None:
    lines = [entry for row in range(6) for entry in (line(f"{row} a", 0, 30 * row), prose(f"{row} b", 200, 30 * row))]

    assert texts_of(lines) == [f"{row} {side}" for row in range(6) for side in "ab"]


def test_two_sides_of_a_chat_take_turns() -> None:
    lines = [prose(str(row), 0 if row % 2 else 400, 40 * row) for row in range(12)]

    assert texts_of(lines) == [str(row) for row in range(12)]
