"""Watermark: hysteresis."""

import pytest

from pipeline.workers.watermark import Watermark


def weighed(*samples: float | None, high: float = 75, low: float = 60) -> list[bool]:
    mark = Watermark(high, low)
    return [mark.weigh(sample) for sample in samples]


@pytest.mark.feature("S4")
def test_one_second_over_the_high_mark_holds_and_three_under_the_low_one_release() -> None:
    assert weighed(74, 75, 60, 59, 60) == [False, True, True, True, False]


@pytest.mark.feature("S4")
def test_between_the_marks_everything_stays_as_it_is() -> None:
    assert weighed(70, 61, 74) == [False] * 3
    assert weighed(90, 70, 61, 74) == [True] * 4


def test_calm_seconds_must_be_in_a_row() -> None:
    assert weighed(90, 10, 10, 61, 10, 10, 90, 10, 10, 10) == [True] * 9 + [False]


def test_load_that_comes_and_goes_each_second_does_not_flap() -> None:
    assert weighed(*[100, 0] * 20) == [True] * 40


def test_what_cannot_be_measured_holds_nothing() -> None:
    assert weighed(90, None, 70) == [True, False, False]


def test_a_high_mark_of_100_is_off() -> None:
    assert weighed(100, 100, 100, high=100) == [False] * 3
