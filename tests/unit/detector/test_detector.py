"""Screening: hits of both lists with their places in the original text."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.detector.detector import HITS_MAX, Detector
from pipeline.detector.findings import Hit
from pipeline.detector.lexicon import Lexicon
from pipeline.errors import InvalidInput
from pipeline.lists.following import source_of_file
from pipeline.samples import sample_texts, words_file

pytestmark = pytest.mark.usefixtures("each_way")


@pytest.fixture
def detector() -> Detector:
    return Detector(Lexicon(["刷单", "刷单返利", "WeChat"]))


def spans(detector: Detector, text: str, *words: str) -> list[tuple[str, str, str]]:
    return [(hit.list, hit.word, hit.surface) for hit in detector.screen(text, words).hits]


@pytest.mark.feature("D1")
def test_words_of_the_request_and_of_the_global_list_are_found(detector: Detector) -> None:
    screening = detector.screen("加微信，刷单返利", ["加微信"])

    assert screening.hits == (
        Hit("加微信", "request", 0, 3, 0, 3, "加微信"),
        Hit("刷单返利", "global", 4, 8, 4, 8, "刷单返利"),
    )
    assert screening.suggestion == "block"


def test_clean_text_passes(detector: Detector) -> None:
    screening = detector.screen("今天下午三点开会", ["加微信"])

    assert (screening.hits, screening.suggestion) == ((), "pass")


@pytest.mark.feature("D2")
def test_match_offsets_point_into_the_original_text(detector: Detector) -> None:
    text = "😀 ﬁrst ㍿ ＷＥＣＨＡＴ 😀刷单"

    for hit in detector.screen(text, ["first"]).hits:
        assert text[hit.start : hit.end] == hit.surface
        utf16 = text.encode("utf-16-le")
        assert utf16[2 * hit.start_utf16 : 2 * hit.end_utf16].decode("utf-16-le") == hit.surface

    assert spans(detector, text, "first") == [
        ("request", "first", "ﬁrst"),
        ("global", "WeChat", "ＷＥＣＨＡＴ"),
        ("global", "刷单", "刷单"),
    ]


def test_longest_word_covers_the_shorter_ones_of_its_list(detector: Detector) -> None:
    assert spans(detector, "刷单返利，刷单") == [("global", "刷单返利", "刷单返利"), ("global", "刷单", "刷单")]


def test_word_of_one_list_never_hides_a_word_of_the_other(detector: Detector) -> None:
    assert spans(detector, "刷单返利", "刷单") == [("request", "刷单", "刷单"), ("global", "刷单返利", "刷单返利")]


def test_half_of_a_compatibility_character_is_reported_as_the_whole(detector: Detector) -> None:
    (hit,) = detector.screen("在㍿内", ["株式"]).hits

    assert (hit.start, hit.end, hit.surface) == (1, 2, "㍿")


@pytest.mark.parametrize("text", ["", "\ud83d", "\ude00刷单\ud83d", "\x00刷单\x00", "\uffff刷单"])
def test_broken_text_is_screened_all_the_same(detector: Detector, text: str) -> None:
    hits = detector.screen(text, ["加微信"]).hits

    assert [hit.surface for hit in hits] == ["刷单"] * text.count("刷单")
    assert all(text[hit.start : hit.end] == "刷单" and hit.start_utf16 == hit.start for hit in hits)


def test_blank_word_of_a_request_is_refused_with_its_place(detector: Detector) -> None:
    with pytest.raises(InvalidInput) as caught:
        detector.screen("text", ["good", "  "])

    assert [problem.pointer for problem in caught.value.problems] == ["/words/1"]


def test_order_and_number_of_request_lists_change_no_answer(detector: Detector) -> None:
    for number in range(200):
        assert spans(detector, f"a 词{number}。", f"词{number}。", "b") == [
            ("request", f"词{number}。", f"词{number}。")
        ]


def test_threads_share_one_detector(detector: Detector) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(
            threads.map(lambda number: spans(detector, f"x{number % 90}. 刷单", f"x{number % 90}."), range(400))
        )

    assert [answer[0][2] for answer in found] == [f"x{number % 90}." for number in range(400)]


def test_every_character_of_unicode_can_be_screened(detector: Detector) -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))

    assert all(hit.surface == text[hit.start : hit.end] for hit in detector.screen(text, ["a", "ß"]).hits)


def test_samples_hold_texts_with_hits_and_texts_without() -> None:
    detector = Detector(*source_of_file(words_file()))

    suggestions = [detector.screen(text).suggestion for text in sample_texts()]

    assert suggestions.count("block") >= 4
    assert suggestions.count("pass") >= 4


def test_a_text_of_one_word_over_and_over_reports_its_first_hits_only() -> None:
    screening = Detector(Lexicon(["词"])).screen("词" * 5_000, ["词"])

    assert len(screening.hits) == HITS_MAX
    assert screening.hits[-1].start < HITS_MAX
    assert screening.suggestion == "block"
