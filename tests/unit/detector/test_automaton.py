"""The automaton finds every match, in code points, by either engine, made or read back."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.detector import automaton
from pipeline.detector.automaton import ENGINES, Automaton, Daachorse, Engine

Made = Callable[[Sequence[str]], Automaton]


@pytest.fixture(params=[*ENGINES, "daachorse over UTF-16"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Engine]:
    if request.param not in ENGINES:
        monkeypatch.setattr(automaton, "CHARWISE_MAX_PATTERNS", 1)
        return Daachorse
    return ENGINES[request.param]


@pytest.fixture(params=["made", "read back"])
def made(request: pytest.FixtureRequest, engine: type[Engine]) -> Made:
    def make(patterns: Sequence[str]) -> Automaton:
        made = Automaton.of_patterns(patterns, engine)
        return made if request.param == "made" else Automaton.of_bytes(memoryview(made.to_bytes()), engine)

    return make


def test_matches_inside_others_are_found_too(made: Made) -> None:
    assert list(made(["刷单", "刷单返利", "返利"]).find("x刷单返利刷单")) == [
        (1, 3, 0),
        (1, 5, 1),
        (3, 5, 2),
        (5, 7, 0),
    ]


def test_long_text_has_the_matches_of_its_pieces_and_those_over_their_seams(made: Made) -> None:
    text = "ab" * 20_000

    assert list(made(["abab", "ba"]).find(text)) == sorted(
        [(start, start + 4, 0) for start in range(0, 39_997, 2)]
        + [(start, start + 2, 1) for start in range(1, 39_999, 2)],
        key=lambda match: (match[1], match[0]),
    )


def test_places_count_code_points(made: Made) -> None:
    assert list(made(["微信", "词𠀀", "𠀀好"]).find("😀😀加微信，词𠀀好")) == [(3, 5, 0), (6, 8, 1), (7, 9, 2)]


def test_no_patterns_find_nothing(made: Made) -> None:
    assert list(made([]).find("text")) == []


def test_threads_share_one_automaton(made: Made) -> None:
    words = made([f"word{number}." for number in range(200)])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda text: list(words.find(text)), ["a word7. b word199."] * 400))

    assert answers == [[(2, 8, 7), (11, 19, 199)]] * 400


def test_a_half_of_one_character_and_a_half_of_the_next_are_none(made: Made) -> None:
    # In UTF-16 the bytes 62 11 62 11 hold 11 62 too.
    assert list(made(["\u1162\u1162", "xy"]).find("\u6211\u6211\u6211xy")) == [(3, 5, 1)]
