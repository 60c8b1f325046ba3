"""Candidates hold in the original text, or are none: gaps, edges, runs, letters that only look right."""

import pytest

from pipeline.detector.lexicon import Lexicon
from pipeline.detector.normalize import fold
from pipeline.detector.rules import RuleSet, Word

pytestmark = pytest.mark.usefixtures("each_way")


def surfaces(word: str, text: str) -> list[str]:
    found = sorted(Lexicon([word]).find(fold(text)).found, key=lambda find: (find.start, -find.end))
    return [text[find.start : find.end] for find in found]


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("微信", "微 信"),
        ("微信", "微.信"),
        ("微信", "微|信"),
        ("微信", "微🔥🔥🔥信"),
        ("赌博", "赌丶博"),
        ("赌博", "赌⼁博"),
        ("代开发票", "代，开，发，票"),
        ("代开发票", "代\n开\n发\n票"),
        ("代开发票", "代。开。发。票"),
        ("fuck", "f.u.c.k"),
        ("fuck", "f  u  c  k"),
        ("fuck", "f-uck"),
        ("national congress", "National   Congress"),
        ("national congress", "national-congress"),
        ("national congress", "national\ncongress"),
        ("national congress", "NationalCongress"),
        ("don't", "dont"),
        ("wi-fi", "wi fi"),
        ("三陪", "3陪"),
        ("一夜情", "①夜情"),
        ("110", "①①⓪"),
        ("六四", "六四"),
        ("台独", "臺 獨"),
        ("微信", "微\u2060信"),
        ("hello", "h\u0336e\u0336l\u0336l\u0336o\u0336"),
    ],
)
def test_noise_inside_a_word_does_not_hide_it(word: str, text: str) -> None:
    assert surfaces(word, f"x {text} y") == [text]


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("微信", "今天发微。信不信由你"),
        ("微信", "很微，信不信由你"),
        ("微信", "微\n信"),
        ("微信", "微=========信"),
        ("anal", "an al"),
        ("shit", "I wash it"),
        ("shit", "It's hit"),
        ("shit", "5 class hits"),
        ("cp", "cpm"),
        ("cp", "acp"),
        ("cp", "c. p"),
        ("64", "6.4"),
        ("64", "64.5"),
        ("64", "10.64.1"),
        ("64", "1.64"),
        ("sex", "Essex Sussex sextant"),
        ("cock", "Hancock, cocktail, peacock"),
        ("冰毒", "吃冰。毒蛇"),
        ("三陪", "13陪"),
        ("1100", "1,100"),
        ("110", "1-10"),
        ("3号楼", "13号楼"),
        ("12", "123"),
        ("C#", "C 3"),
        ("@@@@", "@@@"),
    ],
)
def test_innocent_text_is_left_alone(word: str, text: str) -> None:
    assert surfaces(word, f"x {text} y") == []


@pytest.mark.parametrize("text", ["fuuuuck", "ffuucckk", "ⒻⒻⒻfⓤuⓤ⒰cⓒ⒦", "f u u u c k"])
def test_stretched_word_is_found_whole(text: str) -> None:
    assert surfaces("fuck", f"x {text} y") == [text]


@pytest.mark.parametrize(
    ("word", "text"), [("god", "good"), ("god", "godd"), ("good", "god"), ("1200", "120000"), ("微信号", "微信信号")]
)
def test_a_language_doubles_letters_too(word: str, text: str) -> None:
    assert surfaces(word, text) == []


def test_doubled_characters_of_a_word_may_be_stretched_further() -> None:
    assert surfaces("good", "goooood") == ["goooood"]
    assert surfaces("微信", "微微信信")[0] == "微微信信"


@pytest.mark.parametrize(("word", "text"), [("bot", "вот"), ("cop", "сор"), ("pot", "РОТ")])
def test_words_of_another_script_are_no_disguise(word: str, text: str) -> None:
    assert surfaces(word, f"x {text} y") == []


def test_a_letter_of_another_script_in_a_latin_word_is_one() -> None:
    assert surfaces("casino", "cаsinо") == ["cаsinо"]


def test_words_of_another_script_are_found_in_any_case() -> None:
    assert surfaces("казино", "КАЗИНО, казино") == ["КАЗИНО", "казино"]


def test_a_word_without_boundary_is_found_inside_others() -> None:
    inside = Lexicon(rules=RuleSet(deny=(Word("cp", boundary="none"),)))

    assert [find.start for find in inside.find(fold("acpm")).found] == [1]


def test_a_flood_of_invisible_characters_costs_no_square() -> None:
    text = "\u200b" * 50_000 + "cp" + "\u200b" * 50_000

    assert surfaces("cp", text) == ["cp"]
