"""The automaton finds every match, in code points, by either engine, made or read back."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.detector.automaton import ENGINES, Automaton, Engine

Made = Callable[[Sequence[str]], Automaton]


@pytest.fixture(params=[(engine, is_read) for engine in ENGINES for is_read in (False, True)], ids=str)
def made(request: pytest.FixtureRequest) -> Made:
    engine: type[Engine] = ENGINES[request.param[0]]

    def make(patterns: Sequence[str]) -> Automaton:
        automaton = Automaton.of_patterns(patterns, engine)
        return Automaton.of_bytes(memoryview(automaton.to_bytes()), engine) if request.param[1] else automaton

    return make


def test_matches_inside_others_are_found_too(made: Made) -> None:
    assert made(["刷单", "刷单返利", "返利"]).find("x刷单返利刷单") == [
        (1, 3, 0),
        (1, 5, 1),
        (3, 5, 2),
        (5, 7, 0),
    ]


def test_long_text_has_the_matches_of_its_pieces_and_those_over_their_seams(made: Made) -> None:
    text = "ab" * 20_000

    assert made(["abab", "ba"]).find(text) == sorted(
        [(start, start + 4, 0) for start in range(0, 39_997, 2)]
        + [(start, start + 2, 1) for start in range(1, 39_999, 2)],
        key=lambda match: (match[1], match[0]),
    )


def test_places_count_code_points(made: Made) -> None:
    assert made(["微信"]).find("😀😀加微信") == [(3, 5, 0)]


def test_no_patterns_find_nothing(made: Made) -> None:
    assert made([]).find("text") == []


def test_threads_share_one_automaton(made: Made) -> None:
    automaton = made([f"word{number}." for number in range(200)])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(automaton.find, ["a word7. b word199."] * 400))

    assert answers == [[(2, 8, 7), (11, 19, 199)]] * 400
