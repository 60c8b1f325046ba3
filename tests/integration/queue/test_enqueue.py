"""enqueue: once per task id, at its place, within the limits."""

import pytest
import redis

from pipeline.errors import DeviceBacklogFull, QueueFull, WouldExpire
from pipeline.queue import Rules, Task, TaskState
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line


@pytest.mark.feature("Q13")
def test_enqueue_puts_a_task_id_in_line_once(line: Line) -> None:
    (task_id,) = line.submit(RED)
    before = line.snapshot()

    again = line.queue.enqueue(Task(task_id, "ocr", RED, line.clock.now_ms()))

    assert again.is_duplicate
    assert again.state is TaskState.QUEUED
    assert line.snapshot() == before


@pytest.mark.feature("Q13")
@pytest.mark.parametrize("ending", ["leased", "running", "done"])
def test_enqueue_answers_a_known_id_with_its_state(line: Line, ending: str) -> None:
    (task_id,) = line.submit(RED)
    claim = line.claim()
    if ending != "leased":
        line.queue.start(task_id, claim.token)
    if ending == "done":
        line.queue.complete(task_id, claim.token, cost_ms=5)

    assert line.queue.enqueue(Task(task_id, "ocr", RED, 0)).state == ending


@pytest.mark.feature("Q1")
def test_a_device_has_one_line_per_lane(line: Line) -> None:
    line.submit(RED, 3, lane="ocr")
    (text,) = line.submit(RED, lane="text")

    assert line.claim("text").task_id == text


@pytest.mark.feature("Q11")
def test_a_full_device_is_refused_alone(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=2))
    line.submit(RED, 2)
    before = line.snapshot()

    with pytest.raises(DeviceBacklogFull) as refused:
        line.submit(RED)

    assert refused.value.retry_after_ms == 30_000
    assert line.snapshot() == before
    line.submit(BLUE)


@pytest.mark.feature("Q11")
def test_overload_scope_all_closes_the_door_for_all_until_the_device_has_room_again(
    valkey: redis.Redis, clock: FakeClock
) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=2, overload_scope="all"))
    line.submit(RED, 2)
    with pytest.raises(QueueFull):
        line.submit(BLUE)

    line.drain(1)

    line.submit(BLUE)


@pytest.mark.feature("Q10")
def test_a_claim_frees_nothing_and_an_end_does(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_total=2))
    line.submit(RED, 2)
    claim = line.claim()
    with pytest.raises(QueueFull):
        line.submit(BLUE)

    line.queue.complete(claim.task_id, claim.token, cost_ms=10)

    line.submit(BLUE)
    line.assert_books_balance()


@pytest.mark.feature("Q12")
def test_drop_oldest_ends_the_oldest_waiting_task_of_the_same_device(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=2, overload_policy="drop_oldest"))
    first, second = line.submit(RED, 2)

    answer = line.queue.enqueue(Task("new", "ocr", RED, clock.now_ms()))

    assert answer.evicted == first
    found = line.inspector.find(first)
    assert found is not None
    assert found.state is TaskState.EVICTED
    assert line.drain(2) == [second, "new"]
    line.assert_books_balance()


@pytest.mark.feature("Q12")
def test_drop_oldest_refuses_when_nothing_waits(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=1, overload_policy="drop_oldest"))
    line.submit(RED)
    line.claim()

    with pytest.raises(DeviceBacklogFull):
        line.queue.admit(RED, "ocr")
    with pytest.raises(DeviceBacklogFull):
        line.submit(RED)


@pytest.mark.feature("Q12")
def test_drop_oldest_makes_room_in_any_lane_of_a_full_device(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=2, overload_policy="drop_oldest"))
    (image,) = line.submit(RED, lane="ocr")
    clock.advance(10)
    line.submit(RED, lane="text")
    line.claim("text")
    line.queue.admit(RED, "text")

    answer = line.queue.enqueue(Task("new", "text", RED, clock.now_ms()))

    assert answer.evicted == image
    line.assert_books_balance()


@pytest.mark.feature("Q12")
def test_drop_oldest_ends_nothing_of_a_device_that_others_close_out(valkey: redis.Redis, clock: FakeClock) -> None:
    rules = Rules(max_per_mac=2, overload_policy="drop_oldest", overload_scope="all")
    line = Line(valkey, clock, rules)
    (light,) = line.submit(BLUE)
    line.submit(RED, 2)

    with pytest.raises(QueueFull):
        line.queue.admit(BLUE, "ocr")
    with pytest.raises(QueueFull):
        line.submit(BLUE)

    found = line.inspector.find(light)
    assert found is not None
    assert found.state is TaskState.QUEUED


def test_admit_tells_the_time_of_the_queue(line: Line) -> None:
    assert line.queue.admit(RED, "ocr") == line.clock.now_ms()


def test_admit_changes_nothing(line: Line) -> None:
    line.submit(RED)
    before = line.snapshot()

    line.queue.admit(RED, "ocr")
    line.queue.admit(BLUE, "text")

    assert line.snapshot() == before


@pytest.mark.feature("Q11")
def test_retry_after_follows_the_drain_rate(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=60))
    line.submit(RED, 60)
    line.drain(30, cost_ms=1000)
    line.submit(RED, 30)

    with pytest.raises(DeviceBacklogFull) as refused:
        line.submit(RED)

    # One end a second for 30 s: the rate, over a window of a minute, is known to within a factor.
    assert 1_000 <= refused.value.retry_after_ms <= 4_000


def test_a_boosted_task_stands_before_older_ones_of_its_device(line: Line) -> None:
    ordinary = line.submit(RED, 2)
    boosted = line.submit(RED, boost_ms=5_000)

    assert line.drain(3) == boosted + ordinary


@pytest.mark.feature("Q11")
def test_a_task_that_would_expire_before_its_turn_is_refused_when_that_is_wished(
    valkey: redis.Redis, clock: FakeClock
) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=60_000, late_ms=60_000))
    line.submit(RED, 150)
    line.drain(30, cost_ms=1_000)

    with pytest.raises(WouldExpire):
        line.submit(RED)
    line.submit(BLUE)


@pytest.mark.feature("Q11")
def test_retry_after_does_not_grow_because_the_lane_was_quiet(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=2))
    line.submit(RED, 2)
    line.drain(2, cost_ms=1_000)
    clock.advance(900_000)
    line.submit(RED, 2)
    line.claim()

    with pytest.raises(DeviceBacklogFull) as refused:
        line.submit(RED)

    assert refused.value.retry_after_ms <= 2_000
