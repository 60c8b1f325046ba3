"""Gates: what keeps a device out of the ready set, and what lets it in again."""

import pytest

from pipeline.errors import InvalidInput
from pipeline.queue import TaskState
from pipeline.queue.types import DeviceRules
from tests.support.line import BLUE, GREEN, RED, Line


@pytest.mark.feature("Q18")
def test_a_paused_device_waits_until_it_is_resumed_and_keeps_its_order(line: Line) -> None:
    ids = line.submit(RED, 3)
    line.queue.set_device(RED, DeviceRules(is_paused=True))
    assert not line.queue.claim("ocr")
    ids += line.submit(RED)
    assert not line.queue.claim("ocr")

    line.queue.set_device(RED, DeviceRules())

    assert line.drain(4) == ids
    line.assert_books_balance()


@pytest.mark.feature("Q18")
def test_a_rate_limit_lets_a_minutes_worth_through_at_once_and_then_one_at_a_time(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=3))
    line.submit(RED, 6)
    line.drain(3, cost_ms=0)
    assert not line.queue.claim("ocr")

    line.clock.advance(19_999)
    assert line.queue.resume() == []
    line.clock.advance(1)
    assert line.queue.resume() == [RED]

    assert len(line.drain(1, cost_ms=0)) == 1
    assert not line.queue.claim("ocr")
    line.assert_books_balance()


@pytest.mark.feature("Q18")
def test_a_cap_counts_per_lane(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(max_inflight=1))
    line.submit(RED, 2)
    line.submit(RED, 2, lane="text")
    line.claim()

    assert line.queue.claim("text")
    assert not line.queue.claim("text")


@pytest.mark.feature("Q18")
def test_a_device_that_was_kept_out_comes_back_without_credit(line: Line) -> None:
    line.submit(RED, 150)
    line.submit(BLUE, 150)
    line.drain(10, cost_ms=1_000)
    line.queue.set_device(RED, DeviceRules(is_paused=True))
    line.drain(60, cost_ms=1_000)
    line.queue.set_device(RED, DeviceRules())

    served = line.drain(20, cost_ms=1_000)

    assert sum(task_id.startswith("aa") for task_id in served) <= 12


def test_a_lifted_cap_acts_at_once(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(max_inflight=1))
    line.submit(RED, 3)
    line.claim()
    line.queue.set_device(RED, DeviceRules())

    assert [line.claim().mac for _ in range(2)] == [RED, RED]


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (DeviceRules(max_inflight=0), "/max_inflight"),
        (DeviceRules(max_inflight=10**9), "/max_inflight"),
        (DeviceRules(rate_per_minute=0), "/rate_per_minute"),
        (DeviceRules(rate_per_minute=-1), "/rate_per_minute"),
        (DeviceRules(rate_per_minute=float("nan")), "/rate_per_minute"),
    ],
)
def test_absurd_caps_and_rates_are_refused(line: Line, wanted: DeviceRules, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        line.queue.set_device(RED, wanted)


def macs(line: Line, limit: int) -> list[str]:
    """Whose tasks one claim takes, in their order."""
    return [claim.mac for claim in line.queue.claim("ocr", limit=limit)]


@pytest.mark.feature("Q6")
def test_a_turn_takes_a_batch_but_one_only_while_another_starves(line: Line) -> None:
    line.submit(BLUE)
    line.clock.advance(29_000)
    line.submit(RED, 20)
    line.queue.set_device(BLUE, DeviceRules(is_paused=True))
    line.submit(GREEN, 20)
    assert macs(line, 15) == [RED] * 10 + [GREEN] * 5

    line.queue.set_device(BLUE, DeviceRules(weight=0.001))
    line.clock.advance(1_000)

    # GREEN is five tasks behind RED; then they take turns of one each.
    assert macs(line, 12) == [GREEN] * 5 + [RED, GREEN] * 3 + [RED]


@pytest.mark.feature("Q6")
def test_a_claim_for_several_slots_may_go_round_one_by_one(line: Line) -> None:
    line.submit(RED, 9)
    line.submit(GREEN, 2)
    line.submit(BLUE, 1)

    claims = line.queue.claim("ocr", limit=7, per_turn=1)

    assert [claim.mac for claim in claims] == [RED, GREEN, BLUE, RED, GREEN, RED, RED]


@pytest.mark.feature("Q6")
def test_a_batch_never_takes_more_than_the_free_slots_or_the_cap(line: Line) -> None:
    line.submit(RED, 20)
    assert len(line.queue.claim("ocr", limit=3)) == 3

    line.queue.set_device(RED, DeviceRules(max_inflight=5))

    assert len(line.queue.claim("ocr", limit=10)) == 2
    line.assert_books_balance()


@pytest.mark.parametrize("is_handed_back", [True, False], ids=["handed back", "deferred"])
def test_a_task_that_was_not_run_leaves_its_place_in_the_rate(line: Line, is_handed_back: bool) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=1))
    (task_id,) = line.submit(RED)
    token = line.claim().token
    if is_handed_back:
        line.queue.hand_back(task_id, token)
    else:
        line.queue.defer(task_id, token, code="no_capable_worker")
        line.clock.advance(30_000)
        line.queue.promote()
        line.queue.resume()

    assert line.claim().task_id == task_id
    line.assert_books_balance()


@pytest.mark.feature("Q18")
def test_a_rate_of_less_than_one_a_minute_lets_one_through_at_its_time(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=0.5))
    line.submit(RED, 2)
    line.drain(1, cost_ms=0)
    assert not line.queue.claim("ocr")

    line.clock.advance(120_000)

    assert line.queue.resume() == [RED]
    assert len(line.drain(1, cost_ms=0)) == 1


def test_a_clock_that_is_set_back_does_not_stop_a_rate(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=1))
    line.submit(RED, 2)
    line.clock.advance(1_200_000)
    line.drain(1, cost_ms=0)
    line.clock.advance(-1_200_000)
    line.submit(RED)

    line.clock.advance(61_000)
    line.submit(RED)

    assert len(line.drain(1, cost_ms=0)) == 1


def test_a_task_buried_before_it_began_uses_up_no_rate(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=1))
    line.submit(RED, 3)

    for _ in range(3):
        claim = line.claim()
        line.queue.bury(claim.task_id, claim.token, ending=TaskState.DEAD, code="x", message="", cost_ms=0)

    line.assert_books_balance()


@pytest.mark.parametrize("garbage", ["", "x", ":"])
def test_what_no_fairlane_wrote_in_the_ready_sets_stops_nobody(line: Line, garbage: str) -> None:
    line.submit(RED)
    for key in (line.queue.keys.schedule("ocr", "local"), line.queue.keys.sites("ocr")):
        line.client.zadd(key, {garbage: -1e18})

    assert line.claim().mac == RED


@pytest.mark.parametrize("field", ["v", "phi", "local|v", "local|tag"])
def test_a_clock_that_is_no_number_is_nought(line: Line, field: str) -> None:
    line.submit(RED)
    line.client.hset(line.queue.keys.lane("ocr"), field, "nan")

    line.submit(RED)

    assert len(line.drain(2)) == 2


@pytest.mark.parametrize("garbage", [b"", b"x", b"::", b"a:b", b"\xff\xfe:text", b"aa0000000001:nolane"])
def test_what_no_fairlane_wrote_among_backoffs_stops_nobody_and_leaves_nothing(line: Line, garbage: bytes) -> None:
    line.submit(RED)
    before = line.snapshot()
    line.client.zadd(line.inspector.keys.backoff(), {garbage: 1})

    assert line.queue.resume() == []

    assert line.snapshot() == before
