"""claim: whose turn it is, and what it costs."""

import pytest
import redis

from pipeline.queue import FairQueue, Rules, Task, TaskState
from pipeline.queue.types import DeviceRules
from tests.support.clock import FakeClock
from tests.support.line import BLUE, GREEN, RED, Line


@pytest.mark.feature("Q3")
def test_claim_serves_a_device_in_the_order_of_its_submits(line: Line) -> None:
    ids = line.submit(RED, 20)

    assert line.drain(20) == ids


def test_claim_finds_nothing_in_an_empty_lane(line: Line) -> None:
    line.submit(RED, lane="text")

    assert not line.queue.claim("ocr")


@pytest.mark.feature("Q7")
def test_every_claim_has_a_larger_token(line: Line) -> None:
    line.submit(RED, 3)
    line.submit(BLUE, 3)

    tokens = [line.claim().token for _ in range(6)]

    assert tokens == sorted(set(tokens))


@pytest.mark.feature("Q7")
def test_tokens_grow_over_a_loss_of_all_data(line: Line) -> None:
    line.submit(RED)
    old = line.claim().token
    line.client.flushall()
    line.clock.advance(1)
    line.submit(RED)

    assert line.claim().token > old


@pytest.mark.feature("Q5")
def test_a_newcomer_is_served_next_however_deep_the_flood(line: Line) -> None:
    line.submit(RED, 150)
    line.drain(10)
    (newcomer,) = line.submit(BLUE)

    assert newcomer in line.drain(2)


@pytest.mark.feature("Q5")
def test_shares_are_equal_in_worker_time_not_in_tasks(line: Line) -> None:
    line.submit(RED, 150, size_class=10)
    line.submit(BLUE, 150, size_class=20)
    used = {RED: 0, BLUE: 0}
    for _ in range(110):
        claim = line.claim()
        cost_ms = 100 if claim.mac == RED else 1000
        line.clock.advance(cost_ms)
        line.queue.complete(claim.task_id, claim.token, cost_ms=cost_ms)
        used[claim.mac] += cost_ms

    assert 0.45 < used[RED] / sum(used.values()) < 0.55


@pytest.mark.feature("Q5")
def test_a_device_that_was_idle_has_no_credit_saved(line: Line) -> None:
    line.submit(RED, 1)
    line.drain(1)
    line.submit(BLUE, 50)
    line.drain(20)
    line.submit(RED, 20)

    served = line.drain(20)

    assert 8 <= sum(1 for task_id in served if task_id.startswith("aa")) <= 12


@pytest.mark.feature("Q4")
def test_aging_serves_the_device_whose_first_task_is_oldest(aging: Line) -> None:
    late = aging.submit(BLUE)
    aging.clock.advance(5_000)
    early = [f"early-{i}" for i in range(2)]
    for task_id in early:
        aging.queue.enqueue(Task(task_id, "ocr", RED, aging.clock.now_ms() - 60_000))

    assert aging.drain(3) == [*early, *late]


def test_equal_turns_go_to_who_was_seated_first_not_to_the_lower_mac(line: Line) -> None:
    line.submit(GREEN)
    line.submit(BLUE)
    line.submit(RED)

    assert [line.claim().mac for _ in range(3)] == [GREEN, BLUE, RED]


@pytest.mark.feature("Q17")
def test_claim_never_hands_out_a_task_past_its_ttl(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(ttl_ms=1_000))
    (stale,) = line.submit(RED)
    clock.advance(1_001)
    (fresh,) = line.submit(RED)

    assert line.claim().task_id == fresh
    found = line.inspector.find(stale)
    assert found is not None
    assert found.state is TaskState.EXPIRED
    line.assert_books_balance()


def test_a_foreign_entry_in_a_line_is_buried_and_the_line_goes_on(line: Line) -> None:
    (task_id,) = line.submit(RED)
    line.client.zadd(line.queue.keys.line(RED, "ocr"), {"garbage": 0, "0000000000000000:3:9999999999999:unheard-of": 1})

    assert line.claim().task_id == task_id
    assert [letter["code"] for letter in line.inspector.dead_letters()] == ["poisoned_entry"] * 2


@pytest.mark.feature("Q18")
def test_a_device_at_its_cap_is_skipped_until_one_of_its_tasks_ends(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(max_inflight=1))
    line.submit(RED, 2)
    claim = line.claim()
    assert not line.queue.claim("ocr")

    line.queue.complete(claim.task_id, claim.token, cost_ms=10)

    assert line.claim().mac == RED
    line.assert_books_balance()


@pytest.mark.feature("Q20")
@pytest.mark.parametrize("devices", [1, 100])
def test_a_claim_takes_at_most_twelve_commands_whatever_the_number_of_devices(
    valkey: redis.Redis, devices: int
) -> None:
    queue = FairQueue(valkey, Rules())  # the server tells the time, as in production: one command more
    for number in range(2 * devices):
        queue.enqueue(Task(f"t{number}", "ocr", f"{number % devices:012x}", 0))
    queue.claim("text")  # so that the server knows the script
    valkey.config_resetstat()

    queue.claim("ocr")

    calls = {name: stat["calls"] for name, stat in valkey.info("commandstats").items()}
    calls.pop("cmdstat_config|resetstat", None)
    assert calls.pop("cmdstat_fcall") == 1
    assert sum(calls.values()) <= 12
    assert not {"cmdstat_scan", "cmdstat_keys"} & set(calls)


def test_a_task_whose_record_is_gone_is_forgotten_so_that_it_can_be_put_in_line_again(line: Line) -> None:
    gone, stays = line.submit(RED, 2)
    line.client.delete(line.queue.keys.task(gone))
    assert next(books.faults for books in line.inspector.audit()) == (
        f"{gone}: queued by its place, but without a record",
    )

    assert line.drain(1) == [stays]

    line.assert_books_balance()
    line.queue.enqueue(Task(gone, "ocr", RED, line.clock.now_ms()))
    assert line.drain(1) == [gone]
    line.assert_books_balance()


@pytest.mark.feature("Q5")
def test_a_device_that_comes_back_has_no_turn_in_hand(line: Line) -> None:
    line.submit(RED)
    line.submit(BLUE, 60)
    line.drain(41)
    line.submit(RED, 20)

    served = line.drain(8)

    assert served[0].startswith("bb"), "it was given a turn for the time it was away"
    assert sum(task_id.startswith("aa") for task_id in served) == 4
