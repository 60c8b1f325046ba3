"""What threads ask at the same time is asked once, and each gets its own answer."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from pipeline.together import Together
from tests.support.processes import wait_until


class Oracle:
    """Doubles numbers, holds its first answer back until it may go, and fails where a negative one is asked."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.may_answer = threading.Event()

    def ask(self, items: Sequence[int]) -> list[int]:
        self.groups.append(list(items))
        if len(self.groups) == 1:
            assert self.may_answer.wait(10)
        if bad := [item for item in items if item < 0]:
            raise ValueError(f"no answer for {bad[0]}")
        return [2 * item for item in items]


def asked_at_once(together: "Together[int, int]", oracle: Oracle, numbers: Sequence[int]) -> list["Future[int]"]:
    """Ask 0 first, and all others while that is being answered."""
    pool = ThreadPoolExecutor(len(numbers) + 1)
    first = pool.submit(together, 0)
    wait_until(lambda: bool(oracle.groups))
    others = []
    for number in numbers:
        gathered = len(together._waiting)
        others.append(pool.submit(together, number))
        wait_until(lambda gathered=gathered: len(together._waiting) > gathered)
    oracle.may_answer.set()
    pool.shutdown()
    return [first, *others]


def test_who_comes_alone_is_asked_for_at_once() -> None:
    oracle = Oracle()
    oracle.may_answer.set()
    together = Together(oracle.ask, 10)
    assert [together(1), together(2)] == [2, 4]
    assert oracle.groups == [[1], [2]]


def test_those_that_come_while_one_is_answered_are_asked_for_together() -> None:
    oracle = Oracle()
    answers = asked_at_once(Together(oracle.ask, 10), oracle, [1, 2, 3])
    assert [answer.result() for answer in answers] == [0, 2, 4, 6]
    assert oracle.groups == [[0], [1, 2, 3]]


def test_no_group_is_larger_than_allowed() -> None:
    oracle = Oracle()
    answers = asked_at_once(Together(oracle.ask, 2), oracle, [1, 2, 3, 4, 5])
    assert [answer.result() for answer in answers] == [0, 2, 4, 6, 8, 10]
    assert oracle.groups == [[0], [1, 2], [3, 4], [5]]


def test_one_that_cannot_be_answered_costs_its_neighbours_nothing() -> None:
    oracle = Oracle()
    first, good, bad, other = asked_at_once(Together(oracle.ask, 10), oracle, [1, -1, 2])
    assert [first.result(), good.result(), other.result()] == [0, 2, 4]
    with pytest.raises(ValueError, match="no answer for -1"):
        bad.result()
    assert oracle.groups[:2] == [[0], [1, -1, 2]]
    assert sorted(oracle.groups[2:]) == [[-1], [1], [2]]


def test_a_failure_of_one_alone_leaves_the_next_unharmed() -> None:
    oracle = Oracle()
    oracle.may_answer.set()
    together = Together(oracle.ask, 10)
    with pytest.raises(ValueError, match="no answer for -3"):
        together(-3)
    assert together(3) == 6


def test_many_threads_each_get_their_own_answer() -> None:
    together = Together(lambda items: [2 * item for item in items], 7)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(together, range(2_000))) == [2 * number for number in range(2_000)]
