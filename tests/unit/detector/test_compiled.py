"""A list that was made ready is written to a file and mapped from it: it finds the same, or is refused."""

import time
from pathlib import Path

import psutil
import pytest

from pipeline.detector import compiled
from pipeline.detector.characters import characters
from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.readings import readings
from pipeline.detector.rules import Combination, Expression, Rating, RuleSet, View, Word
from pipeline.detector.split_glyphs import glyphs
from pipeline.errors import ListDamaged, ListOutdated

RULES = RuleSet(
    deny=(
        Word("微信", Rating("contact", 2, "review", ("a", "b"))),
        Word("cunt", boundary="none"),
        Word("C#"),
        Word("赌场"),
    ),
    allow=(Word("scunthorpe"),),
    combinations=(Combination("job", ("兼职", "日结"), 3, Rating(level=4)),),
    expressions=(Expression("code", "code[0-9]{4}", Rating(action="tag")),),
    contacts={"phone_cn": Rating(action="mask")},
    views=frozenset({"ocr"}),
)
TEXT = "加徽信 c#, 赌場, 兼职日结, code1234, 13800138000, Scunthorpe, cuuunt"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "list.bin"
    path.write_bytes(Lexicon(["Good"], RULES).to_bytes())
    return path


@pytest.mark.feature("D6")
def test_a_mapped_list_says_and_finds_what_the_list_does(path: Path) -> None:
    made, mapped = Lexicon(["Good"], RULES), Lexicon.open(path)

    assert Detector(mapped).screen(TEXT) == Detector(made).screen(TEXT)
    assert len(Detector(mapped).screen(TEXT).hits) == 6
    assert (mapped.words, mapped.counts(), len(mapped)) == (made.words, made.counts(), 5)
    assert mapped.to_bytes() == made.to_bytes() == path.read_bytes()


def test_an_empty_list_is_mapped_too(path: Path) -> None:
    path.write_bytes(Lexicon().to_bytes())

    assert Detector(Lexicon.open(path)).screen(TEXT).hits == ()
    assert Lexicon.open(path).words == ()


def test_a_list_that_was_removed_or_replaced_serves_those_who_mapped_it(path: Path) -> None:
    mapped = Lexicon.open(path)
    path.unlink()

    assert [hit.word for hit in Detector(mapped).screen("good").hits] == ["Good"]


@pytest.mark.feature("D6")
@pytest.mark.parametrize("data", [b"", b"words", "微信\n".encode() * 100])
def test_a_file_of_something_else_is_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)

    with pytest.raises(ListDamaged):
        Lexicon.open(path)


@pytest.mark.feature("D6")
def test_a_damaged_file_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)

    with pytest.raises(ListDamaged, match="SHA-256"):
        Lexicon.open(path)


def test_a_list_that_was_folded_by_another_table_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "characters_version", lambda: "other")
    compiled._about.cache_clear()
    try:
        with pytest.raises(ListOutdated, match="characters other"):
            Lexicon.open(path)
    finally:
        compiled._about.cache_clear()


def test_twenty_thousand_words_are_ready_in_half_a_second_and_the_first_text_in_5_ms() -> None:
    words = [f"{chr(0x4E00 + number % 3_000)}{chr(0x5000 + number // 7)}号" for number in range(20_000)]
    began_s = time.process_time()
    data = Lexicon(words).to_bytes()
    made_s = time.process_time() - began_s
    detector = Detector(Lexicon.of_bytes(data))

    began_s = time.process_time()
    detector.screen("今天天气不错，我们去公园散步，下午三点开会，记得带上笔记本，晚上一起吃饭。然后回家，明天再说。")
    first_s = time.process_time() - began_s

    assert made_s < 0.5
    assert first_s < 0.005


@pytest.mark.parametrize("views", [frozenset(), frozenset({"pinyin"}), frozenset({"split"})])
def test_the_first_text_waits_for_no_table(views: frozenset[View]) -> None:
    rules = RuleSet(deny=(Word("代开发票"),), views=views)
    data = Lexicon(rules=rules).to_bytes()
    for table in (characters, readings, glyphs):
        table.cache_clear()

    detector = Detector(Lexicon.of_bytes(data))

    read = [table.cache_info().currsize for table in (characters, readings, glyphs)]
    detector.screen("代开发票，带开发票，代开癶票")
    assert [table.cache_info().currsize for table in (characters, readings, glyphs)] == read
    assert read == [1, int("pinyin" in views), int("split" in views)]


def test_writing_and_mapping_a_list_over_and_over_leaks_nothing(path: Path) -> None:
    lexicon = Lexicon([f"词{number}号" for number in range(2_000)])

    def once() -> None:
        path.write_bytes(lexicon.to_bytes())
        assert len(Detector(Lexicon.open(path)).screen("词77号").hits) == 1

    for _ in range(20):
        once()
    before_bytes = psutil.Process().memory_info().rss
    for _ in range(200):
        once()
    assert psutil.Process().memory_info().rss - before_bytes < 10_000_000
