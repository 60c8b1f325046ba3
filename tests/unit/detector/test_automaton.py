"""The automaton finds leftmost-longest matches in code points."""

from concurrent.futures import ThreadPoolExecutor

from pipeline.detector.automaton import Automaton


def test_longest_of_the_patterns_that_begin_first_wins() -> None:
    assert Automaton(["刷单", "刷单返利", "返利"]).find("x刷单返利刷单") == [(1, 5, 1), (5, 7, 0)]


def test_places_count_code_points() -> None:
    assert Automaton(["微信"]).find("😀😀加微信") == [(3, 5, 0)]


def test_no_patterns_find_nothing() -> None:
    assert Automaton([]).find("text") == []


def test_threads_share_one_automaton() -> None:
    automaton = Automaton([f"word{number}" for number in range(200)])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(automaton.find, ["a word7 b word199"] * 400))

    assert answers == [[(2, 7, 7), (10, 17, 199)]] * 400
