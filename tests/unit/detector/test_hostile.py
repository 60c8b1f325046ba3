"""Texts and lists made to cost: the work grows with the text, and what was not looked at is said."""

import time

import pytest

from pipeline.detector.detector import HITS_MAX, Detector
from pipeline.detector.findings import Screening
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rules import Combination, Expression, Rating, RuleSet, Word
from pipeline.errors import InvalidInput

NESTED = ["词" * length for length in range(1, 65)]
CHARS = 100_000


def cut(screening: Screening) -> list[tuple[str, int]]:
    return [(hit.list, hit.end) for hit in screening.hits if hit.kind == "cut"]


@pytest.mark.parametrize("text", ["词" * CHARS, "词 " * (CHARS // 2)])
def test_words_nested_in_one_another_cost_no_square(text: str) -> None:
    began_s = time.process_time()

    screening = Detector(Lexicon(NESTED)).screen(text, NESTED)

    assert time.process_time() - began_s < 15  # 30 s and 80 s without a bound
    assert cut(screening) == [("global", len(text)), ("request", len(text))]
    assert screening.suggestion == "block"


def test_a_text_that_was_not_looked_at_whole_is_worth_a_review_and_hidden() -> None:
    tagged = RuleSet(deny=tuple(Word(word, Rating(action="tag")) for word in NESTED))

    screening = Detector(Lexicon(rules=tagged)).screen("词" * CHARS + "x")

    assert (screening.suggestion, screening.masked) == ("review", "*" * (CHARS + 1))


def test_a_text_of_one_candidate_for_each_character_is_looked_at_whole() -> None:
    screening = Detector(Lexicon(["词", "坏词"])).screen("词" * CHARS + "坏词")

    assert cut(screening) == []
    assert len(screening.hits) == HITS_MAX


def test_many_expressions_that_match_everywhere_are_cut_too() -> None:
    rules = RuleSet(expressions=tuple(Expression(f"e{number}", "a") for number in range(200)))

    assert cut(Detector(Lexicon(rules=rules)).screen("a" * CHARS)) == [("global", CHARS)]


def test_many_combinations_of_a_word_that_is_everywhere_cost_no_product() -> None:
    rules = RuleSet(combinations=tuple(Combination(f"c{number}", (f"甲{number}", "语"), 5) for number in range(5_000)))
    began_s = time.process_time()

    screening = Detector(Lexicon(rules=rules)).screen("语" * CHARS + "甲77")

    assert [hit.word for hit in screening.hits] == ["c77"]
    assert time.process_time() - began_s < 15


@pytest.mark.parametrize("views", [frozenset(), frozenset({"ocr", "pinyin", "split"})])
@pytest.mark.parametrize(
    "piece",
    [
        "\u200b",
        "\ud83d",
        "\uffff",
        "\U000e0041",
        "́",
        "微\u200b",
        "1",
        "1-",
        "a@",
        "a.",
        "http://",
        "微信:",
        "wei好",
        "女",
        "ﷺ",
        "行的",
    ],
)
def test_no_text_is_too_odd(piece: str, views: frozenset[str]) -> None:
    lexicon = Lexicon(rules=RuleSet(deny=(Word("代开发票"), Word("李好", views=views)), views=views))
    text = piece * (CHARS // len(piece)) + "代开发票"

    hits = Detector(lexicon).screen(text).hits

    assert [text[hit.start : hit.end] for hit in hits if hit.word == "代开发票"] == ["代开发票"]


def test_ten_megabytes_are_screened() -> None:
    text = "今天天气不错，" * 500_000 + "代开发票"

    (hit,) = Detector(Lexicon(["代开发票"])).screen(text).hits

    assert (len(text.encode()) > 10_000_000, hit.start) == (True, len(text) - 4)


def test_a_hundred_thousand_words_of_a_request_are_found_or_each_fault_is_named() -> None:
    words = [f"词{number}号" for number in range(100_000)]

    assert [hit.word for hit in Detector(Lexicon()).screen("x词77777号", words).hits] == ["词77777号"]
    with pytest.raises(InvalidInput) as caught:
        Lexicon([*words, "\u200b", "\ud800"])
    assert [problem.pointer for problem in caught.value.problems] == ["/words/100000", "/words/100001"]
