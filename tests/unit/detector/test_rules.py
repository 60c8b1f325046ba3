"""Combinations, expressions, ratings: what a list says is done."""

import json
from typing import Any

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.findings import Hit, Screening
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("each_way")


def screen(rules: dict[str, Any], text: str) -> Screening:
    return Detector(Lexicon(rules=rules_of_json(json.dumps(rules)))).screen(text)


def told(rules: dict[str, Any], text: str) -> list[tuple[str, str]]:
    return [(hit.word, hit.surface) for hit in screen(rules, text).hits]


COMBINATION = {"combos": [{"id": "job", "all": ["兼职", "日结"], "within": 3}], "deny": ["兼职"]}


@pytest.mark.feature("D5")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("兼职，日结", [("job", "兼职，日结")]),
        ("日 结abc兼-职", [("job", "日 结abc兼-职")]),
        ("兼职1234日结", []),
        ("兼职", []),
        ("兼职兼职", []),
        ("兼职兼职日结。日结兼职", [("job", "兼职日结"), ("job", "日结兼职")]),
    ],
)
def test_words_mean_something_together_only(text: str, found: list[tuple[str, str]]) -> None:
    assert told(COMBINATION, text) == found


@pytest.mark.feature("D5")
def test_expressions_find_with_places_in_the_original() -> None:
    (hit,) = screen({"regex": [{"id": "code", "pattern": "ab+[0-9]"}]}, "😀 xABB7").hits

    assert (hit.word, hit.kind, hit.start, hit.end, hit.start_utf16) == ("code", "regex", 3, 7, 4)


def test_half_a_character_does_not_hide_a_text_from_expressions() -> None:
    assert told({"regex": [{"id": "code", "pattern": "abc"}]}, "\ud83dabc") == [("code", "abc")]


def test_a_catastrophic_expression_costs_no_more_than_its_text() -> None:
    assert told({"regex": [{"id": "bad", "pattern": "(a+)+$"}]}, "a" * 50_000 + "b") == []


@pytest.mark.parametrize("pattern", ["(a", r"(a)\1", "(?=x)", "a*", "((a{100}){100}){100}", "x" * 1_001])
def test_an_expression_that_cannot_be_is_refused_with_its_place(pattern: str) -> None:
    rules = rules_of_json(json.dumps({"regex": [{"id": "good", "pattern": "a"}, {"id": "bad", "pattern": pattern}]}))

    with pytest.raises(InvalidInput) as caught:
        Lexicon(rules=rules)

    assert [problem.pointer for problem in caught.value.problems] == ["/regex/1/pattern"]


@pytest.mark.feature("D5")
@pytest.mark.parametrize(
    ("action", "suggestion", "masked"),
    [("block", "block", "a **"), ("review", "review", "a **"), ("mask", "pass", "a **"), ("tag", "pass", None)],
)
def test_the_action_of_a_word_decides_suggestion_and_mask(action: str, suggestion: str, masked: str | None) -> None:
    screening = screen({"deny": [{"word": "赌场", "action": action, "level": 4, "category": "gambling"}]}, "a 赌场")

    assert (screening.suggestion, screening.masked) == (suggestion, masked)
    assert (screening.label, screening.level, screening.score) == ("gambling", 4, 0.95)


def test_the_gravest_find_gives_label_and_level_and_all_different_ones_the_score() -> None:
    rules = {
        "deny": [
            {"word": "甲", "level": 4, "action": "tag", "category": "a"},
            {"word": "乙", "level": 2, "action": "review", "category": "b"},
        ]
    }

    screening = screen(rules, "甲乙乙乙")

    assert (screening.suggestion, screening.label, screening.level, screening.score) == ("review", "b", 2, 0.97)


def test_contacts_change_the_suggestion_only_where_a_list_says_so() -> None:
    assert screen({}, "13800138000").suggestion == "pass"
    assert screen({"contacts": {"phone_cn": {"action": "review"}}}, "13800138000 a@b.com").suggestion == "review"
    assert screen({"contacts": {}}, "13800138000").contacts == ()


def test_everything_wrong_with_rules_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        rules_of_json('{"deny": [3, {"word": "a", "acton": "tag"}], "contacts": {"fax": {}}, "lists": 1}')

    assert {problem.pointer for problem in caught.value.problems} >= {"/deny/1/acton", "/lists"}


def test_hits_are_values_that_can_be_stored() -> None:
    (hit,) = screen({"deny": [{"word": "甲", "tags": ["x"]}]}, "甲").hits

    assert hit == Hit("甲", "global", 0, 1, 0, 1, "甲", tags=("x",))


def test_a_flood_of_one_part_of_a_combination_costs_no_square() -> None:
    assert told(COMBINATION, "兼职" * 20_000 + "日结") == [("job", "兼职日结")]


def test_all_that_must_not_be_shown_is_hidden_beyond_the_hits_that_are_told() -> None:
    assert screen({"deny": ["词"]}, "x词" * 2_000).masked == "x*" * 2_000
