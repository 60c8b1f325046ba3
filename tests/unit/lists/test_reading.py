"""Lists are read from lines, tables and rules; what is wrong is said by its line."""

import json
from pathlib import Path

import pytest

from pipeline.detector.rules import Rating, Word
from pipeline.errors import ConfigurationError, InvalidInput
from pipeline.lists import reading
from pipeline.lists.reading import kind_of, load_list, read_list

TABLE = """word;list;category;level;action;tags;boundary;views
发票;deny;fraud;2;review;money|paper;;
"a;b";;;;;;none;ocr|split

普通发票;allow;;;;;;
"""


def words_of(data: bytes) -> list[str]:
    return [rule.word for rule in read_list(data, "txt").rules.deny]


@pytest.mark.feature("D6")
def test_lines_are_words_without_comments_and_blanks() -> None:
    assert words_of("\ufeff# list\r\n加微信\r\n\r\n  two words \n#x\nC#".encode()) == ["加微信", "two words", "C#"]


def test_line_separators_of_unicode_do_not_cut_words() -> None:
    assert words_of("a\u2028b\n".encode()) == ["a\u2028b"]


@pytest.mark.feature("D6")
def test_a_table_names_its_columns() -> None:
    read = read_list(TABLE.encode("gbk"), "csv")

    assert read.rules.deny == (
        Word("发票", Rating("fraud", 2, "review", ("money", "paper"))),
        Word("a;b", boundary="none", views=frozenset({"ocr", "split"})),
    )
    assert read.rules.allow == (Word("普通发票"),)
    assert (read.place("/deny/1"), read.place("/allow/0"), read.place("/regex/0")) == ("line 3", "line 5", "/regex/0")


@pytest.mark.feature("D6")
def test_rules_and_plain_arrays_of_json_are_read() -> None:
    assert (
        read_list(json.dumps(["词", {"word": "x", "level": 1}]).encode("utf-16"), "json").rules.deny[1].rating.level
        == 1
    )
    assert len(read_list(b'{"regex": [{"id": "a", "pattern": "a+"}]}', "json").rules.expressions) == 1


def test_the_same_rules_have_one_hash_however_they_are_written() -> None:
    spaced = read_list(b'{"deny": [ "a" ],\n "allow": []}', "json")

    assert spaced.sha256 == read_list(b'{"allow":[],"deny":["a"]}', "json").sha256
    assert read_list(b"a\n", "txt").sha256 == read_list(b"\n# note\n  a", "txt").sha256


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("text", "kind", "places"),
    [
        ("category\nx", "csv", ["line 1"]),
        ("", "csv", ["line 1"]),
        ("word,colour\nx,red", "csv", ["line 1"]),
        ("word,word\nx,y", "csv", ["line 1"]),
        ("word,level\nx,9\ny,high\nz,2,3", "csv", ["line 3", "line 4"]),
        ("word,level\nx,2\ny,9", "csv", ["line 3, level"]),
        ("word,action\nx,explode", "csv", ["line 2, action"]),
        ("word,list\nx,maybe", "csv", ["line 2"]),
        ("word,level\n,2", "csv", ["line 2"]),
        ('word\n"open\n', "csv", ["line 2"]),
        ('{"deny": ["a",]}', "json", ["line 1"]),
        ('{"deny": [{"word": "x", "level": 9}]}', "json", ["/deny/0/level"]),
        ('{"combos": [{"id": "x", "all": ["a"], "within": 3}]}', "json", ["/combos/0/all"]),
        ('{"deny": ["half \\ud83d"]}', "json", [""]),
        ('"word"', "json", [""]),
        ("[" * 100_000, "json", ["file"]),
    ],
)
def test_what_is_wrong_is_said_by_its_place(text: str, kind: reading.Kind, places: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_list(text.encode(), kind)

    assert [problem.pointer for problem in caught.value.problems] == places


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WORDS_MAX", 2)
    monkeypatch.setattr(reading, "FILE_MAX_BYTES", 20)

    for data, kind, place in (
        (b"a\nb\nc", "txt", "line 3"),
        (b'["a","b","c"]', "json", "file"),
        (b"x" * 21, "txt", "file"),
    ):
        with pytest.raises(InvalidInput) as caught:
            read_list(data, kind)
        assert caught.value.problems[0].pointer == place


def test_reading_tells_how_far_it_has_come() -> None:
    told: list[int] = []

    read_list("\n".join(f"word{index}" for index in range(25_000)).encode(), "txt", tell=told.append)

    assert told == [10_000, 20_000, 25_000]


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "csv"), ("a.JSON", "json"), ("a.txt", "txt"), ("words", "txt")])
def test_the_name_of_a_file_says_what_it_holds(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_a_file_that_cannot_be_a_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"words\.txt cannot be read"):
        load_list(tmp_path / "words.txt")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"bad\.json: line 1"):
        load_list(tmp_path / "bad.json")
