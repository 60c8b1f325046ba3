"""Folding follows its definition over all of Unicode and remembers where characters came from."""

import sys
import unicodedata

import pytest

from pipeline.detector.normalize import Folded, fold


def test_table_agrees_with_the_definition_for_every_character() -> None:
    for start in range(0, sys.maxunicode + 1, 0x1000):
        chars = [chr(code) for code in range(start, start + 0x1000) if not 0xD800 <= code < 0xE000]
        expected = [unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold()) for char in chars]
        assert [fold(char).text for char in chars] == expected


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＷｅＣｈａｔ１２３", "wechat123"),
        ("ﬁn", "fin"),
        ("㍿", "株式会社"),
        ("Straße", "strasse"),
        ("①②", "12"),
        ("ｶﾞ", "カ\u3099"),
    ],
)
def test_width_and_case_are_folded(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_plain_text_keeps_its_places() -> None:
    assert fold("加微信 abc") == Folded("加微信 abc", None)


def test_place_inside_an_expansion_covers_the_whole_character() -> None:
    folded = fold("a㍿b")

    assert folded.text == "a株式会社b"
    assert folded.original_span(2, 3) == (1, 2)
    assert folded.original_span(0, 6) == (0, 3)


def test_lone_surrogates_become_a_character_that_is_none() -> None:
    assert fold("a\ud83d\ude00b").text == "a\uffff\uffffb"
