"""How many workers a lane should have: enough for the target, at once when more, slowly when fewer."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.scheduler.scale import Load, Memory, Scale, ScaleRules, scale

RULES = ScaleRules(target_wait_ms=60_000, max_workers=50, down_after_ms=300_000, interval_ms=15_000)
QUIET = Load(
    now_ms=1_000_000,
    waiting=0,
    delayed=0,
    leased=0,
    busy_slots=0,
    worked_ms=0,
    finished=0,
    guessed_cost_ms=1_000,
    slots=0,
    workers=0,
    busy_workers=0,
)


class Lane:
    """One lane from snapshot to snapshot, 15 s apart."""

    def __init__(self, rules: ScaleRules = RULES) -> None:
        self.rules = rules
        self.load = QUIET
        self.memory: Memory | None = None

    def snapshot(self, **changes: Any) -> Scale:
        if "leased" in changes:
            changes = {"busy_slots": changes["leased"], **changes}
        self.load = replace(self.load, now_ms=self.load.now_ms + 15_000, **changes)
        result = scale(self.load, self.memory, self.rules)
        self.memory = Memory(
            timestamp=self.load.now_ms,
            busy_slots=self.load.busy_slots,
            worked_ms=self.load.worked_ms,
            finished=self.load.finished,
            cost_ms=result.cost_ms,
            pace=result.pace,
            desired_workers=result.desired_workers,
            below_since_ms=result.below_since_ms,
        )
        return result


@pytest.mark.feature("S8")
def test_work_over_the_target_wait_gives_the_workers() -> None:
    result = Lane().snapshot(waiting=598, leased=2, slots=2, workers=2, busy_workers=2)

    assert (result.work_ms, result.expected_wait_ms, result.desired_workers) == (600_000, 300_000, 10)


@pytest.mark.feature("S8")
def test_a_slot_that_does_many_texts_together_is_one_busy_slot() -> None:
    lane = Lane()
    lane.snapshot(waiting=598, leased=64, busy_slots=2, slots=2, workers=1, busy_workers=1)

    result = lane.snapshot(
        waiting=598, leased=64, busy_slots=2, slots=2, workers=1, busy_workers=1, worked_ms=30_000, finished=30
    )

    assert result.pace == 1.0


@pytest.mark.feature("S8")
def test_more_workers_do_not_ask_for_yet_more() -> None:
    lane = Lane()
    lane.snapshot(waiting=598, leased=2, slots=2, workers=2, busy_workers=2)

    result = lane.snapshot(waiting=590, leased=10, slots=10, workers=10, busy_workers=10, worked_ms=30_000, finished=30)

    assert result.desired_workers == 10


def test_a_worker_with_several_slots_counts_for_as_many() -> None:
    assert Lane().snapshot(waiting=600, slots=8, workers=2).desired_workers == 3


@pytest.mark.feature("S8")
def test_the_cost_of_a_task_is_measured() -> None:
    lane = Lane()
    lane.snapshot(waiting=600, leased=1, slots=1, workers=1)
    for number in range(1, 9):
        result = lane.snapshot(worked_ms=number * 20_000, finished=number * 40)

    assert result.cost_ms == pytest.approx(500, rel=0.01)


def test_work_that_is_lost_slows_the_pace_and_asks_for_more() -> None:
    lane = Lane()
    lane.snapshot(waiting=6_000, leased=10, slots=10, workers=10)
    for number in range(1, 20):  # every other second of each slot came to nothing
        result = lane.snapshot(worked_ms=number * 75_000, finished=number * 75)

    assert result.pace == pytest.approx(0.5, rel=0.05)
    assert result.expected_wait_ms == pytest.approx(6_010 * 1_000 / 5, rel=0.05)


@pytest.mark.feature("S8")
def test_nobody_is_wanted_where_nothing_is_and_somebody_while_anything_waits_even_for_later() -> None:
    assert Lane().snapshot().desired_workers == 0
    assert Lane().snapshot(waiting=1).desired_workers == 1
    assert Lane().snapshot(delayed=1).desired_workers == 1
    assert Lane(replace(RULES, min_workers=2)).snapshot().desired_workers == 2


def test_no_wait_is_expected_without_work_and_none_is_known_without_a_slot() -> None:
    assert Lane().snapshot(slots=1, workers=1).expected_wait_ms == 0
    assert Lane().snapshot().expected_wait_ms == 0
    assert Lane().snapshot(waiting=1).expected_wait_ms is None


def test_never_more_than_the_limit_and_never_fewer_than_are_busy() -> None:
    assert Lane().snapshot(waiting=1_000_000).desired_workers == 50
    assert Lane().snapshot(leased=70, slots=70, workers=70).desired_workers == 70
    assert Lane().snapshot(slots=4, workers=4, busy_workers=3).desired_workers >= 3


@pytest.mark.feature("S8")
def test_fewer_are_asked_for_after_a_while_one_at_a_time() -> None:
    lane = Lane()
    lane.snapshot(waiting=600, slots=2, workers=2)
    asked = [lane.snapshot(waiting=0, slots=10, workers=10).desired_workers for _ in range(24)]

    assert asked == [10] * 20 + [9, 8, 7, 6]


@pytest.mark.feature("S8")
def test_a_lull_that_ends_in_time_takes_nobody_away() -> None:
    lane = Lane()
    lane.snapshot(waiting=600, slots=10, workers=10)
    for _ in range(19):
        lane.snapshot(waiting=0)
    assert lane.snapshot(waiting=600).desired_workers == 10
    assert lane.snapshot(waiting=0).desired_workers == 10


def test_a_scheduler_that_knows_nothing_of_before_takes_nobody_away() -> None:
    assert Lane().snapshot(slots=7, workers=7).desired_workers == 7


def test_two_schedulers_take_away_no_faster_than_one() -> None:
    lane = Lane()
    lane.snapshot(waiting=600, slots=10, workers=10)
    lane.snapshot(waiting=0)
    for _ in range(50):
        lane.load = replace(lane.load, now_ms=lane.load.now_ms - 7_500)
        asked = lane.snapshot().desired_workers

    assert asked == 10 - (50 * 7_500 - 300_000) // 15_000 - 1


@pytest.mark.feature("S8")
def test_what_waits_though_slots_are_free_asks_for_nobody() -> None:
    assert Lane().snapshot(waiting=600, slots=2, workers=2, is_slack=True).desired_workers == 2


def test_a_queue_that_counts_anew_does_not_confuse_what_was_measured() -> None:
    lane = Lane()
    lane.snapshot(waiting=10, leased=1, slots=1, workers=1, worked_ms=9_000, finished=9)
    result = lane.snapshot(worked_ms=5, finished=1)

    assert (result.cost_ms, result.pace) == (1_000, 1.0)
