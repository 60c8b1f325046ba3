"""Words whose characters were taken apart are found where a list wants it, and are never more than a review."""

import json

import pytest
from pypinyin.phrases_dict import phrases_dict

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("each_way")


def told(text: str, *words: str) -> list[tuple[str, str]]:
    rules = {"deny": [{"word": word, "views": ["split"]} for word in words]}
    return [
        (hit.surface, hit.action) for hit in Detector(Lexicon(rules=rules_of_json(json.dumps(rules)))).screen(text).hits
    ]


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("赌博", "贝者博 赌十尃 贝者十尃 貝者博 贝-者-博", ["贝者博", "赌十尃", "贝者十尃", "貝者博", "贝-者-博"]),
        ("微信", "微亻言 微人言 彳山兀攴信", ["微亻言", "微人言", "彳山兀攴信"]),
        ("法轮", "氵去车仑 水去轮", ["氵去车仑", "水去轮"]),
        ("李", "木子", ["木子"]),
    ],
)
def test_characters_taken_apart_are_worth_a_review(word: str, text: str, found: list[str]) -> None:
    assert told(text, word) == [(surface, "review") for surface in found]


def test_the_word_itself_is_found_for_sure_and_its_parts_alone_are_none() -> None:
    assert told("赌博 贝者。十尃 者博 贝，者博", "赌博") == [("赌博", "block")]


def test_a_list_wants_it_for_words_of_two_characters_and_more() -> None:
    rules = rules_of_json(json.dumps({"deny": ["李", "赌博", "abc"], "views": ["split"]}))

    assert [hit.surface for hit in Detector(Lexicon(rules=rules)).screen("木子 贝者博").hits] == ["贝者博"]


@pytest.mark.parametrize("word", ["人", "abc", "C#"])
def test_a_word_that_does_not_fall_apart_is_refused_with_its_place(word: str) -> None:
    rules = rules_of_json(json.dumps({"deny": [{"word": word, "views": ["split"]}]}))

    with pytest.raises(InvalidInput) as caught:
        Lexicon(rules=rules)

    assert [problem.pointer for problem in caught.value.problems] == ["/deny/0/views"]


def test_ordinary_phrases_hold_nothing() -> None:
    words = ["赌博", "嫖娼", "微信", "代开发票", "法轮功", "海洛因", "六合彩", "加好友", "信用卡"]
    detector = Detector(Lexicon(rules=rules_of_json(json.dumps({"deny": words, "views": ["split"]}))))

    hits = detector.screen("。".join(phrases_dict)).hits

    assert {hit.surface for hit in hits if hit.action == "review"} == set()
