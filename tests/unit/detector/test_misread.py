"""What an OCR engine read wrongly is found where a list wants it, and is never more than a review."""

import json

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json

pytestmark = pytest.mark.usefixtures("each_way")


def told(
    text: str, *words: str, views: tuple[str, ...] = ("ocr",), allow: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    rules = json.dumps({"deny": words, "views": views, "allow": allow})
    return [(hit.surface, hit.action) for hit in Detector(Lexicon(rules=rules_of_json(rules))).screen(text).hits]


@pytest.mark.feature("D2")
def test_characters_that_look_alike_are_worth_a_review() -> None:
    assert told("cas1no 徽信 微信", "casino", "微信") == [("cas1no", "review"), ("徽信", "review"), ("微信", "block")]


def test_the_view_is_off_unless_a_list_wants_it() -> None:
    assert told("cas1no 徽信", "casino", "微信", views=()) == []


def test_a_word_of_which_less_than_half_is_right_is_another() -> None:
    assert told("入囗 lo0", "人口", "100") == []


def test_words_that_look_alike_are_each_found_for_sure() -> None:
    assert told("末来", "未来", "末来") == [("末来", "block")]


def test_allowed_words_count_here_too() -> None:
    assert told("徽信牌", "微信", allow=("徽信牌",)) == []
