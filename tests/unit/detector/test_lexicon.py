"""Word lists: what a file may hold, and what is refused with its place."""

from pathlib import Path

import pytest

from pipeline.detector.lexicon import Lexicon
from pipeline.detector.normalize import fold
from pipeline.errors import ConfigurationError, InvalidInput


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "words.txt"


def test_file_is_read_line_by_line_without_comments_and_blanks(path: Path) -> None:
    path.write_bytes("\ufeff# list\r\n加微信\r\n\r\n  two words \n#x\nC#".encode())

    assert Lexicon.load(path).words == ("加微信", "two words", "C#")


def test_line_separators_of_unicode_do_not_cut_words(path: Path) -> None:
    path.write_bytes("a\u2028b\n".encode())

    assert len(Lexicon.load(path)) == 1


def test_no_file_is_an_empty_list() -> None:
    assert len(Lexicon.load(None)) == 0


@pytest.mark.parametrize(
    ("data", "place"), [("好\n词\n".encode() + "坏".encode("gbk"), "line 3"), ("词".encode("utf-16"), "line 1")]
)
def test_file_that_is_not_utf8_is_refused_with_its_line(path: Path, data: bytes, place: str) -> None:
    path.write_bytes(data)

    with pytest.raises(ConfigurationError, match=f"words.txt is not UTF-8: {place}"):
        Lexicon.load(path)


def test_file_that_is_missing_or_no_file_is_refused(path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"words\.txt cannot be read"):
        Lexicon.load(path)
    with pytest.raises(ConfigurationError):
        Lexicon.load(path.parent)


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
