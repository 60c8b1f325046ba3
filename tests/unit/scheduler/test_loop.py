"""Loop: each duty in its time, and none disturbed by another's failure."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import models.base
from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable
from pipeline.scheduler.loop import Duty, Loop
from tests.support.clock import FakeClock
from tests.support.processes import wait_until


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


def test_a_duty_with_a_bug_ends_neither_the_others_nor_the_house(clock: FakeClock) -> None:
    done: list[str] = []
    loop = Loop(
        [Duty("bug", 0, lambda: done.append(str(1 // 0))), Duty("fine", 0, lambda: done.append("fine"))],
        clock,
        tick_s=1,
    )

    loop.tick()
    loop.tick()

    assert done == ["fine", "fine"]


def test_a_stopped_loop_finishes_the_duty_under_way_and_begins_no_other(clock: FakeClock) -> None:
    done: list[str] = []

    def stopping() -> None:
        loop.stop()
        done.append("finished")

    loop = Loop([Duty("stopping", 0, stopping), Duty("next", 0, lambda: done.append("next"))], clock, tick_s=60)
    loop.run()

    assert done == ["finished"]


def round_times(rounds: int, **options: Callable[[], int | None]) -> list[int]:
    """Run a loop that would do a round an hour; return when its first rounds were done, ms after the first."""
    clock, done = SystemClock(), []

    def note() -> None:
        done.append(clock.monotonic_ms())
        if len(done) == rounds:
            loop.stop()

    loop = Loop([Duty("note", 0, note)], clock, tick_s=3600, **options)
    loop.run()
    return [each - done[0] for each in done]


@pytest.mark.feature("S1")
def test_the_loop_sleeps_until_the_next_thing_is_due() -> None:
    due = iter([120, 60])

    times = round_times(3, next_due_ms=lambda: next(due))

    assert 115 <= times[1] < 300
    assert 55 <= times[2] - times[1] < 240


def test_what_is_always_due_does_not_make_the_loop_whirl() -> None:
    assert round_times(6, next_due_ms=lambda: 0)[-1] >= 50


def test_a_loop_whose_duty_fails_waits_for_its_tick_though_something_is_due(clock: FakeClock) -> None:
    tried = threading.Event()

    def failing() -> None:
        assert not tried.is_set(), "tried again at once"
        tried.set()
        raise QueueUnavailable("down")

    asked: list[None] = []
    loop = Loop([Duty("failing", 0, failing)], clock, tick_s=3600, next_due_ms=lambda: asked.append(None) or 0)
    running = threading.Thread(target=loop.run)
    running.start()
    tried.wait(10)
    loop.stop()
    running.join(10)

    assert asked == []


def test_a_wake_up_ends_the_sleep_and_so_does_a_stop(clock: FakeClock) -> None:
    done: list[str] = []
    loop = Loop([Duty("note", 0, lambda: done.append("done"))], clock, tick_s=3600)
    running = threading.Thread(target=loop.run)
    running.start()
    wait_until(lambda: len(done) == 1)
    loop.wake()
    wait_until(lambda: len(done) == 2)
    loop.stop()
    running.join(10)

    assert not running.is_alive()
