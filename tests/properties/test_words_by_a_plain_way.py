"""What the detector finds by views, prefilters and windows is what a plain search finds that knows none of them."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from pipeline.detector.automaton import AhocorasickRs, Daachorse, Engine
from pipeline.detector.candidates import Candidates
from pipeline.detector.compiled import Compiled
from pipeline.detector.forms import form_of
from pipeline.detector.heard import heard
from pipeline.detector.homophones import sounds_of_word
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.misread import is_misreading, looks_of_words
from pipeline.detector.normalize import Folded
from pipeline.detector.openings import Openings
from pipeline.detector.readings import readings
from pipeline.detector.rules import RuleSet, View, Word
from pipeline.detector.split_glyphs import glyphs, put_together
from pipeline.detector.verify import verified

CHARS = (
    "微信薇围芯新重庆冲虫中长大涨代开发票带赌博贝者十甫尃女子好木目相心"
    "氵去车法轮李人入口囗日未末土士酒吧9久银行还钱乐了不的三叁骗八6〇①㈠"
)
LATIN = (
    *("wei", "xin", "weixin", "daikai", "jinv", "app", "WiFi", "xian", "casino", "cas1no", "lo0", "a", "n", "hm"),
    *("ｗｅｉ", "wēi", "ﬁ", "㎞", "\u0455", "\u0430", "\u043e", "\u0436"),
)
NOISE = ("", "", "", "", " ", ".", "，", "。", "\n", "-", "\u200b", "\u0301", "😀", "𠀀", "\ud800", "\uffff", "\ue001")
WORDS = (
    *("微信", "代开发票", "赌博", "重庆银行", "长大了", "法轮功", "李好"),
    *("三级片", "casino", "100loo", "加V信", "八九六四"),
)
ENGINES = (Daachorse, AhocorasickRs)
Spans = set[tuple[int, int, str]]


def word_of(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(WORDS)
    middle = chance.choice(LATIN) if chance.random() < 0.2 else chance.choice(CHARS)
    return chance.choice(CHARS) + middle + "".join(chance.choices(CHARS, k=chance.randint(0, 3)))


def text_of(chance: random.Random, words: Sequence[str]) -> str:
    pieces: list[str] = []
    for _ in range(chance.randint(1, 70)):
        if chance.random() < 0.12:
            pieces += [char if chance.random() < 0.7 else chance.choice(CHARS) for char in chance.choice(words)]
        pieces.append(chance.choice(LATIN) if chance.random() < 0.15 else chance.choice(CHARS))
        pieces.append(chance.choice(NOISE))
    return "".join(pieces)


def lexicon_of(words: Sequence[str], views: frozenset[View], engine: type[Engine]) -> Lexicon:
    rules = RuleSet(deny=tuple(map(Word, words)), views=views)
    return Lexicon(compiled=Compiled.of_bytes(Compiled.of_rules((), rules, engine).to_bytes(), engine))


def found(lexicon: Lexicon, text: str, *, is_sure: bool) -> Spans:
    finds = lexicon.find(Folded(text)).found
    return {(find.start, find.end, find.entry.word) for find in finds if find.is_sure is is_sure}


def plainly(words: Sequence[str], text: str, *, is_blurred: bool) -> Spans:
    """Each word at each place of the text, or what looks like it."""
    folded, spans = Folded(text), set()
    for word in words:
        form = form_of(word, "auto")
        size = len(form.text)
        for start in range(0 if form.is_literal else len(folded.text) - size + 1):
            there = folded.text[start : start + size]
            if is_blurred:
                is_there = looks_of_words([there]) == looks_of_words([form.text]) and is_misreading(there, form.text)
            else:
                is_there = there == form.text
            if is_there and (span := verified(folded, form, start, start + size)):
                spans.add((*span, word))
    return spans


@pytest.mark.feature("D2")
@pytest.mark.parametrize("engine", ENGINES)
def test_one_search_finds_words_and_what_looks_like_them(engine: type[Engine]) -> None:
    chance = random.Random(1)
    for _ in range(12):
        words = sorted({word_of(chance) for _ in range(chance.randint(1, 20))})
        lexicon = lexicon_of(words, frozenset({"ocr"}), engine)
        kept = lexicon.words
        for _ in range(10):
            text = text_of(chance, words)
            exact = plainly(kept, text, is_blurred=False)
            assert exact <= found(lexicon, text, is_sure=True)
            assert plainly(kept, text, is_blurred=True) == found(lexicon, text, is_sure=False)
            assert exact == {one for one in found(lexicon, text, is_sure=True) if not has_run(text, one)}


def has_run(text: str, span: tuple[int, int, str]) -> bool:
    """Say whether what was found is a word whose characters were stretched, which the plain way does not look for."""
    return len(Folded(text[span[0] : span[1]]).text) > len(form_of(span[2], "auto").text)


@pytest.mark.feature("D2")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [1, 12, 100])
def test_places_left_out_are_none_where_a_word_sounds(engine: type[Engine], count: int) -> None:
    """Of every place, with each of two readings of each character, and no prefilter."""
    chance, tables = random.Random(2), readings()
    for _ in range(6):
        words = sorted({"".join(chance.choices([*tables.of], k=chance.randint(2, 4))) for _ in range(count)})
        sounds = [sound for word in words for sound in sounds_of_word(word)]
        lexicon = lexicon_of(words, frozenset({"pinyin"}), engine)
        openings, longest = Openings.of(sounds), max(map(len, sounds))
        for _ in range(10):
            text = "".join(chance.choices([*CHARS, *words], k=chance.randint(1, 60)))
            codes = [int(code) for code in tables.classes.take(Folded(text).kept, mode="clip")]
            ways = [{chr(tables.first[code]), chr(tables.second[code])} for code in codes]
            rendering = heard(Folded(text), openings, longest)
            there = rendering.text if rendering else ""
            for sound in sounds:
                assert sound in there or not stands(sound, ways)
            assert found(lexicon, text, is_sure=True) == plainly(lexicon.words, text, is_blurred=False) | stretched(
                lexicon, text
            )


def stands(sound: str, ways: Sequence[set[str]]) -> bool:
    """Say whether a sound stands somewhere; where three characters of two readings stand in it, not all are tried."""
    return any(
        all(symbol in way for symbol, way in zip(sound, ways[at:], strict=False))
        and sum(len(way) > 1 for way in ways[at : at + len(sound)]) < 3
        for at in range(len(ways) - len(sound) + 1)
    )


def stretched(lexicon: Lexicon, text: str) -> Spans:
    return {one for one in found(lexicon, text, is_sure=True) if has_run(text, one)}


@pytest.mark.feature("D2")
@pytest.mark.parametrize("longest", [1, 3, 1_000])
def test_parts_put_together_in_windows_are_those_of_the_whole_text(longest: int) -> None:
    chance = random.Random(3)
    parts = [apart.split(" ")[0] for apart in glyphs().apart.values()]
    for _ in range(300):
        text = "".join(chance.choice(parts) if chance.random() < 0.1 else chance.choice(CHARS) for _ in range(80))
        folded = Folded(text)
        windows, whole = put_together(folded, longest), put_together(folded, len(text))
        if windows is None or whole is None:
            assert windows is whole
            continue
        assert put(windows.text, windows.bounds.tolist()) == put(whole.text, whole.bounds.tolist())
        assert len(windows.text) <= len(whole.text) + len(windows.bounds)


def put(text: str, bounds: list[int]) -> set[tuple[int, str]]:
    """What was put together, and where."""
    size = len(bounds)
    return {
        (before, text[way * size + index])
        for way in range(len(text) // size)
        for index, (before, after) in enumerate(pairwise(bounds))
        if after - before > 1 and text[way * size + index] != "\uffff"
    }


def test_candidates_are_counted_whatever_they_come_from() -> None:
    assert [*Candidates(1)([1, 2, 3])] == [*Candidates(1)(iter((1, 2, 3)))] == [1, 2, 3]
