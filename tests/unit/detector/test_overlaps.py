"""Of words that overlap the right ones are reported; allowed words keep hits off."""

import json

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json

pytestmark = pytest.mark.usefixtures("each_way")


def words(rules: dict[str, object], text: str, *own: str) -> list[tuple[str, int]]:
    detector = Detector(Lexicon(rules=rules_of_json(json.dumps(rules))))
    return [(hit.word, hit.start) for hit in detector.screen(text, own).hits]


def test_longest_word_covers_those_inside_it() -> None:
    assert words({"deny": ["返利", "刷单", "刷单返利"]}, "刷单返利，返利") == [("刷单返利", 0), ("返利", 5)]


def test_words_that_overlap_in_part_are_both_told() -> None:
    assert words({"deny": ["甲乙丙", "丙丁"]}, "甲乙丙丁") == [("甲乙丙", 0), ("丙丁", 2)]


def test_a_word_that_overlaps_itself_is_told_once() -> None:
    assert words({"deny": ["哈哈"]}, "哈哈哈") == [("哈哈", 0)]


def test_a_longer_word_of_which_less_is_made_does_not_hide_a_graver_one() -> None:
    rules = {"deny": [{"word": "刷单返利", "action": "tag"}, "刷单"]}

    assert words(rules, "刷单返利") == [("刷单", 0), ("刷单返利", 0)]


@pytest.mark.feature("D1")
def test_an_allowed_word_keeps_off_what_it_covers_in_both_lists() -> None:
    rules = {"deny": ["黄片"], "allow": ["三黄片"]}

    assert words(rules, "三黄片，黄片，三 黄 片", "黄片") == [("黄片", 4), ("黄片", 4)]


def test_an_allowed_word_that_covers_a_part_changes_nothing() -> None:
    assert words({"deny": ["黄片"], "allow": ["三黄"]}, "三黄片") == [("黄片", 1)]
