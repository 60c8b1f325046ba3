"""Folding follows its definition over all of Unicode and remembers where characters came from."""

import sys

import pytest

from pipeline.detector.normalize import fold


def test_every_character_folds_and_keeps_its_place() -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    folded = fold(text)

    assert len(folded.places) == len(folded.text)
    assert (folded.places[1:] >= folded.places[:-1]).all()
    assert fold(folded.text).text == folded.text, "what is folded stays as it is"


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＷｅＣｈａｔ１２３", "wechat123"),
        ("ﬁn", "fin"),
        ("㍿", "株式会社"),
        ("Straße", "strasse"),
        ("①⒈⑴❶⓵⓿¹₁㈠㊀壹", "11111011111"),
        ("ｶﾞ", "カ\u3099"),
        ("Ⓕⓤc⒦🅵🆄🅲🅺", "fuckfuck"),
        ("開發票", "开发票"),
        ("fuсk аss", "fuckass"),
        ("s̶h̶i̶t̶é", "shite"),
        ("a\u200db\u00adc\ufe0fd😀e，f", "abcdef"),
        ("łøı", "loi"),
        ("가か\u0e01\u0e31", "가か\u0e01\u0e31"),
    ],
)
def test_what_hides_words_is_folded(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_plain_text_keeps_its_places() -> None:
    folded = fold("加微信abc")

    assert folded.text == "加微信abc"
    assert folded.places.tolist() == list(range(6))


def test_place_inside_an_expansion_covers_the_whole_character() -> None:
    folded = fold("a㍿b")

    assert folded.text == "a株式会社b"
    assert folded.original_span(2, 3) == (1, 2)
    assert folded.original_span(0, 6) == (0, 3)


def test_lone_surrogates_become_a_character_that_is_none() -> None:
    assert fold("a\ud83d\ude00b").text == "a\uffff\uffffb"
