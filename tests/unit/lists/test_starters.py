"""The lists that fairlane brings along are clean: no finding, and no hit in any ordinary word."""

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.lists.lint import lint
from pipeline.lists.ordinary import ordinary_words
from pipeline.lists.starters import read_starter, starter_names

TEXTS = {
    "abuse": "你 是 傻 逼",
    "adult": "同城约-炮",
    "diversion": "加，我，微，信 有惊喜",
    "drugs": "出售冰毒，可邮寄",
    "fraud": "专业代😀开发票",
    "gambling": "網上賭場，注册送彩金",
}


@pytest.mark.feature("D6")
def test_there_is_one_of_each_category() -> None:
    assert starter_names() == tuple(sorted(TEXTS))


@pytest.mark.feature("D6")
@pytest.mark.parametrize("name", starter_names())
def test_a_starter_has_no_finding(name: str) -> None:
    report = lint(read_starter(name))

    assert report.findings == ()


@pytest.mark.feature("D6")
def test_starters_hit_no_ordinary_word() -> None:
    detector = Detector(*(Lexicon(rules=read_starter(name).rules) for name in starter_names()))
    words = ordinary_words()

    assert words.count("\n") > 240_000
    assert [hit.surface for hit in detector.screen(words).hits] == []


@pytest.mark.feature("D6")
@pytest.mark.parametrize("name", starter_names())
def test_every_word_of_a_starter_says_what_it_means_and_is_found(name: str) -> None:
    rules = read_starter(name).rules
    detector = Detector(Lexicon(rules=rules))

    assert all(word.rating.category and word.rating.level for word in rules.deny)
    assert detector.screen(TEXTS[name]).suggestion != "pass"
    parts = {part for combination in rules.combinations for part in combination.words}
    assert [word.word for word in rules.deny if word.word not in parts and not detector.screen(word.word).hits] == []
