"""The linter says what is wrong with a list before anybody is screened by it."""

from typing import Any

import pytest

from pipeline.lists.lint import Report, lint
from pipeline.lists.reading import list_of, read_list


def found(**rules: Any) -> list[tuple[str, str, str, str]]:
    return [(one.severity, one.code, one.place, one.word) for one in linted(**rules).findings]


def linted(**rules: Any) -> Report:
    return lint(list_of(rules))


@pytest.mark.feature("D6")
def test_a_clean_list_has_no_findings() -> None:
    assert found(deny=["代开发票", "网上赌场", "casino bonus", "C#"], allow=["谨防代开发票"]) == []


@pytest.mark.feature("D6")
@pytest.mark.parametrize("word", ["好", "a", "ok", "64", "①②", "@"])
def test_short_words_are_dangerous(word: str) -> None:
    assert ("warning", "short", "/deny/0", word) in found(deny=[word])


@pytest.mark.parametrize("word", ["赌场", "c#", "abc", "微v"])
def test_words_that_only_look_short_are_not(word: str) -> None:
    assert "short" not in linted(deny=[word]).counted


@pytest.mark.feature("D6")
def test_words_inside_ordinary_ones_are_told_with_one_of_them() -> None:
    (finding,) = linted(deny=[{"word": "rape", "boundary": "none"}, "网上赌场"], allow=["grape"]).findings

    assert (finding.severity, finding.code, finding.word) == ("warning", "ordinary", "rape")
    assert "in the ordinary word" in finding.detail


def test_a_denied_word_that_is_ordinary_itself_is_no_collision() -> None:
    assert "ordinary" not in linted(deny=["共和元年"]).counted


def test_an_allowed_word_cures_a_collision() -> None:
    assert "ordinary" in linted(deny=["和元年"]).counted
    assert found(deny=["和元年"], allow=["共和元年"]) == []


@pytest.mark.feature("D6")
def test_words_that_fold_to_the_same_are_duplicates() -> None:
    assert found(deny=["WeChat", "ＷＥＣＨＡＴ", "赌场"]) == [("warning", "duplicate", "/deny/1", "ＷＥＣＨＡＴ")]


@pytest.mark.feature("D6")
def test_a_word_denied_and_allowed_is_an_error() -> None:
    assert ("error", "conflict", "/deny/0", "賭場") in found(deny=["賭場"], allow=["赌场"])


@pytest.mark.feature("D6")
def test_a_word_inside_an_allowed_word_of_one_more_is_still_found_elsewhere() -> None:
    assert found(deny=["网上赌场"], allow=["网上赌场关闭"]) == []


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ({"deny": ["good", "\u200b"]}, "/deny/1"),
        ({"deny": ["good", ""]}, "/deny/1"),
        ({"regex": [{"id": "x", "pattern": "(a"}]}, "/regex/0/pattern"),
        ({"regex": [{"id": "x", "pattern": "(a{1000}){1000}"}]}, "/regex/0/pattern"),
        ({"combos": [{"id": "x", "all": ["a", " "], "within": 1}]}, "/combos/0/all/1"),
    ],
)
def test_what_no_list_can_hold_is_an_error(rules: Any, place: str) -> None:
    assert [(severity, code, at) for severity, code, at, _ in found(**rules)] == [("error", "fault", place)]


@pytest.mark.feature("D6")
def test_a_word_longer_than_may_be_is_an_error() -> None:
    assert linted(deny=["词" * 200]).findings == ()
    (finding,) = linted(deny=["词" * 201]).findings
    assert (finding.severity, finding.code) == ("error", "too_long")
    assert len(finding.word) < 30


@pytest.mark.feature("D6")
def test_a_word_that_is_never_found_is_told() -> None:
    job = {"id": "job", "all": ["兼职", "日结"], "within": 12}

    assert found(deny=["兼职", "网上赌场"], combos=[job]) == [("warning", "never_found", "/deny/0", "兼职")]


def test_of_many_findings_of_a_kind_the_first_are_told_and_all_are_counted() -> None:
    report = linted(deny=[chr(0x4E00 + index) for index in range(50)])

    assert report.counted["short"] == 50
    assert sum(finding.code == "short" for finding in report.findings) == 20


def test_findings_in_lines_say_which() -> None:
    (finding, *_) = lint(read_list("网上赌场\n\n好\n".encode(), "txt")).findings

    assert finding.place == "line 3"


def test_an_ordinary_word_that_a_view_takes_for_a_denied_one_is_told() -> None:
    sounding = {"word": "微信", "views": ["pinyin"]}

    assert ("warning", "ordinary", "/deny/0", "微信") in found(deny=[sounding])
    assert found(deny=["微信"]) == []
