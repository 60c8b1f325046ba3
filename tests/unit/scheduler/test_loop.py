"""Loop: each duty in its time, and none disturbed by another's failure."""

from pathlib import Path

import pytest

import models.base
from pipeline.errors import QueueUnavailable
from pipeline.scheduler.loop import Duty, Loop
from tests.support.clock import FakeClock


@pytest.fixture(autouse=True)
def _database(tmp_path: Path) -> None:
    models.base.bind(models.base.connect(f"sqlite:///{tmp_path}/empty.db"))


def test_a_duty_is_done_once_a_period(clock: FakeClock) -> None:
    done: list[str] = []
    loop = Loop(
        [Duty("often", 0, lambda: done.append("often")), Duty("rarely", 1_000, lambda: done.append("rarely"))],
        clock,
        tick_s=1,
    )
    for _ in range(4):
        loop.tick()
        clock.advance(400)

    assert done == ["often", "rarely", "often", "often", "often", "rarely"]


def test_a_duty_that_reaches_no_server_is_tried_again_and_the_others_are_done(clock: FakeClock) -> None:
    done: list[str] = []

    def failing() -> None:
        done.append("tried")
        raise QueueUnavailable("down")

    loop = Loop([Duty("failing", 0, failing), Duty("well", 0, lambda: done.append("well"))], clock, tick_s=1)
    loop.tick()
    loop.tick()

    assert done == ["tried", "well"] * 2


def test_a_stopped_loop_finishes_the_duty_under_way_and_begins_no_other(clock: FakeClock) -> None:
    done: list[str] = []

    def stopping() -> None:
        loop.stop()
        done.append("finished")

    loop = Loop([Duty("stopping", 0, stopping), Duty("next", 0, lambda: done.append("next"))], clock, tick_s=60)
    loop.run()

    assert done == ["finished"]
