"""What is shown on a terminal cannot command it."""

import json

import pytest

from pipeline.cli.sanitize import clean, clean_line, to_json

HOSTILE = [
    "\x1b[2J",
    "\x07",
    "\x00",
    "\r",
    "\x7f",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\u2028",
    "\ud800",
]


@pytest.mark.feature("H6")
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_control_characters_and_direction_marks_are_replaced(text: str) -> None:
    assert clean(text) == "\N{REPLACEMENT CHARACTER}" + text[1:]


def test_offsets_stay_right() -> None:
    text = "a\x1bb\u202ec"
    assert [clean(text).index(letter) for letter in "abc"] == [0, 2, 4]


def test_ordinary_text_of_every_script_stays() -> None:
    text = "line one\n\tنص 文字 🙂 e\u0301"
    assert clean(text) == text


def test_a_line_stays_one_line() -> None:
    assert clean_line("one\ntwo\n") == "one two "


@pytest.mark.parametrize("text", [*HOSTILE, "文字"], ids=ascii)
def test_json_is_safe_to_print_and_decodes_to_what_it_was(text: str) -> None:
    shown = to_json({"text": text})
    assert clean(shown) == shown
    assert json.loads(shown) == {"text": text}
