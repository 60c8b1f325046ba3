"""Word lists made ready: what is refused, and what is one word."""

import pytest

from pipeline.detector.lexicon import Lexicon
from pipeline.detector.normalize import fold
from pipeline.errors import InvalidInput


def test_blank_words_and_half_characters_are_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        Lexicon(["good", "", " \u3000", "\u200b", "half \ud83d", "\uffff", "\u0301"])

    assert [problem.pointer for problem in caught.value.problems] == [f"/words/{index}" for index in range(1, 7)]


def test_words_that_fold_to_the_same_are_one_word() -> None:
    lexicon = Lexicon(["WeChat", "ＷＥＣＨＡＴ", " wechat "])

    assert lexicon.words == ("WeChat",)
    assert [(find.entry.word, find.start, find.end) for find in lexicon.find(fold("my wechat")).found] == [
        ("WeChat", 3, 9)
    ]
