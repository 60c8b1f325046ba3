"""Pace: never more than what is set, whatever the scheduler's tick is."""

import pytest

from pipeline.scheduler.replay import Pace


@pytest.mark.parametrize("per_second", [1, 3, 10, 1000])
@pytest.mark.parametrize("tick_s", [0.1, 0.5, 1.0, 2.0])
def test_in_the_long_run_as_many_are_replayed_as_are_set(per_second: int, tick_s: float) -> None:
    pace, done = Pace(per_second, tick_s), [0] * 1000

    for tick in range(1000):
        recent = sum(done[max(0, tick - round(pace.window_ms / 1000 / tick_s) + 1) : tick])
        done[tick] = pace.room(recent)

    assert sum(done) == pytest.approx(1000 * tick_s * per_second, rel=0.05)
    assert max(done) <= max(1, per_second * tick_s + 1)


def test_there_is_no_room_once_others_have_used_it() -> None:
    assert Pace(10, 0.5).room(12) == 0
