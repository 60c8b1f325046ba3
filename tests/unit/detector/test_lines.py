"""Words go on over lines that are neighbours; hits say where they lie."""

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.findings import Box
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.lines import Line

pytestmark = pytest.mark.usefixtures("each_way")


def box(x: float, y: float, width: float = 100, height: float = 20) -> Box:
    return (x, y), (x + width, y), (x + width, y + height), (x, y + height)


def found(lines: list[Line], *words: str) -> list[tuple[str, str]]:
    return [(hit.word, hit.surface) for hit in Detector(Lexicon(words)).screen_lines(lines).hits]


@pytest.mark.feature("D3")
@pytest.mark.parametrize(
    ("second", "is_neighbour"),
    [
        (box(0, 24), True),
        (box(30, 30), True),
        (box(104, 0), True),
        (box(0, 90), False),
        (box(300, 24), False),
        (box(300, 0), False),
        (box(0, 24, height=60), False),
    ],
)
def test_a_word_goes_on_in_the_line_that_is_its_neighbour(second: Box, *, is_neighbour: bool) -> None:
    lines = [Line("专业代开", box(0, 0)), Line("发票加微", second)]

    assert found(lines, "代开发票") == ([("代开发票", "代开发票")] if is_neighbour else [])


@pytest.mark.feature("D3")
def test_segments_carry_lines_places_and_boxes() -> None:
    lines = [Line("专业代开", box(0, 0)), Line("发票加微", box(0, 24))]

    (hit,) = Detector(Lexicon(["代开发票"])).screen_lines(lines).hits

    assert [(one.line, one.start, one.end) for one in hit.segments] == [(0, 2, 4), (1, 0, 2)]
    assert hit.segments[0].box == box(50, 0, 50)
    assert hit.segments[1].box == box(0, 24, 50)
    assert (hit.start, hit.end) == (2, 7)


def test_latin_words_go_on_after_a_hyphen_only() -> None:
    assert found([Line("this is porn-"), Line("ography here")], "pornography", "porn") == [
        ("pornography", "porn-ography")
    ]
    assert found([Line("an"), Line("al")], "anal") == []
    assert found([Line("the national"), Line("congress")], "national congress") == [
        ("national congress", "nationalcongress")
    ]


def test_no_lines_hold_nothing() -> None:
    assert found([], "x") == []
    assert found([Line(""), Line("")], "x") == []


def test_breaks_of_lines_stay_in_the_masked_text() -> None:
    assert Detector(Lexicon(["微信"])).screen_lines([Line("加微"), Line("信")]).masked == "加*\n*"
