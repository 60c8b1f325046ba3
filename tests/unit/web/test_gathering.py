"""Reading all parts at once: who hangs, fails or has a bug is down, and delays nobody."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline import metrics
from pipeline.errors import Retryable
from web.figures.gathering import Gathering
from web.figures.types import Figure, Figures


def one() -> Iterator[Figures]:
    yield Figure(metrics.DEAD_LETTERS, (), 7)


def failing() -> Iterator[Figures]:
    yield Figure(metrics.PAUSED_DEVICES, (), 3)
    raise Retryable("no answer")


def up(figures: list[Figures]) -> dict[str, float]:
    return {each.labels[0]: each.value for each in figures if isinstance(each, Figure) and each.metric is metrics.UP}


@pytest.mark.feature("H5")
def test_a_part_that_hangs_is_down_and_is_not_waited_for() -> None:
    go_on = threading.Event()

    def hanging() -> Iterator[Figures]:
        yield Figure(metrics.PAUSED_DEVICES, (), 3)
        go_on.wait(30)

    gathering = Gathering({"queue": hanging, "database": one}, patience_s=0.2)
    figures = [gathering.read() for _ in range(12)]
    go_on.set()

    assert [up(each) for each in figures] == [{"queue": 0, "database": 1}] * 12
    assert Figure(metrics.PAUSED_DEVICES, (), 3) in figures[-1], "what it said before it fell silent"


@pytest.mark.feature("H5")
def test_scrapers_that_come_at_once_share_one_reading() -> None:
    begun, go_on, readings = threading.Event(), threading.Event(), []

    def slow() -> Iterator[Figures]:
        readings.append(1)
        begun.set()
        go_on.wait(30)
        yield Figure(metrics.DEAD_LETTERS, (), 7)

    gathering = Gathering({"database": slow}, patience_s=20)
    with ThreadPoolExecutor(2) as scrapers:
        first = scrapers.submit(gathering.read)
        begun.wait(20)
        second = scrapers.submit(gathering.read)
        go_on.set()

    assert up(first.result()) == {"database": 1}
    assert Figure(metrics.DEAD_LETTERS, (), 7) in second.result()
    assert len(readings) <= 2


@pytest.mark.feature("H5")
def test_what_was_read_before_a_failure_is_told_and_the_failure_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gathering = Gathering({"queue": failing, "database": one})
    figures = [gathering.read() for _ in range(3)][-1]

    assert up(figures) == {"queue": 0, "database": 1}
    assert {Figure(metrics.PAUSED_DEVICES, (), 3), Figure(metrics.DEAD_LETTERS, (), 7)} <= set(figures)
    assert [record.getMessage() for record in caplog.records] == ["a part is not measured"]
