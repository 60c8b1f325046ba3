"""Doing many things at once."""

import threading

import pytest

from pipeline.cli.parallel import in_parallel


def test_every_item_is_worked_on_once() -> None:
    assert sorted(in_parallel(lambda n: n * n, range(50), threading.Event(), threads=4)) == [n * n for n in range(50)]


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(in_parallel(lambda n: n, [], threading.Event(), threads=4)) == []


def test_as_many_run_at_once_as_asked_for() -> None:
    together = threading.Barrier(3, timeout=10)
    assert len(list(in_parallel(lambda _: together.wait(), range(3), threading.Event(), threads=3))) == 3


def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda n: 1 // n, [0], threading.Event(), threads=2))


def test_whoever_waits_is_let_go_when_it_is_time_to_stop() -> None:
    stop, never = threading.Event(), threading.Event()
    stop.set()

    with pytest.raises(KeyboardInterrupt):
        next(in_parallel(lambda _: never.wait(), [1], stop, threads=1))

    never.set()
