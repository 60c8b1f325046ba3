"""Errors of a reading are counted as a person would count them."""

import pytest

from benchmarks.text_errors import edits_in_order, edits_of_lines, folded


def test_width_and_white_space_are_no_errors() -> None:
    assert folded(" Ａ１　月 2 日\n") == "A1月2日"


@pytest.mark.parametrize(
    ("known", "found", "edits"),
    [
        ("", "", 0),
        ("abc", "", 3),
        ("", "ab", 2),
        ("kitten", "sitting", 3),
        ("火山", "水山", 1),
        ("ab", "ba", 2),
    ],
)
def test_distance_is_that_of_levenshtein(known: str, found: str, edits: int) -> None:
    assert edits_in_order(known, found) == edits


def test_order_of_lines_is_no_error() -> None:
    assert edits_of_lines(["one line", "another"], ["another", "one line"]) == (0, 2)


def test_line_in_two_pieces_is_no_error() -> None:
    assert edits_of_lines(["14:325G86%", "same"], ["14:32", "5G86%", "same"]) == (0, 1)


def test_lost_and_doubled_lines_count_in_full() -> None:
    assert edits_of_lines(["first line", "second line"], ["first line"]) == (11, 1)
    assert edits_of_lines(["first line"], ["first line", "first line"]) == (10, 1)


def test_misread_line_is_paired_with_its_original() -> None:
    assert edits_of_lines(["total 108.50", "total 33.00"], ["tota1 33.00", "total 108.5O"]) == (2, 0)
