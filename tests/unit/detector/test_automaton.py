"""The automaton finds every match, in code points."""

from concurrent.futures import ThreadPoolExecutor

from pipeline.detector.automaton import Automaton


def test_matches_inside_others_are_found_too() -> None:
    assert Automaton(["刷单", "刷单返利", "返利"]).find("x刷单返利刷单") == [(1, 3, 0), (1, 5, 1), (3, 5, 2), (5, 7, 0)]


def test_long_text_has_the_matches_of_its_pieces_and_those_over_their_seams() -> None:
    text = "ab" * 20_000

    assert Automaton(["abab", "ba"]).find(text) == sorted(
        [(start, start + 4, 0) for start in range(0, 39_997, 2)]
        + [(start, start + 2, 1) for start in range(1, 39_999, 2)],
        key=lambda match: (match[1], match[0]),
    )


def test_places_count_code_points() -> None:
    assert Automaton(["微信"]).find("😀😀加微信") == [(3, 5, 0)]


def test_no_patterns_find_nothing() -> None:
    assert Automaton([]).find("text") == []


def test_threads_share_one_automaton() -> None:
    automaton = Automaton([f"word{number}." for number in range(200)])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(automaton.find, ["a word7. b word199."] * 400))

    assert answers == [[(2, 8, 7), (11, 19, 199)]] * 400
