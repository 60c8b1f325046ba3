"""Paced replay, on a real queue and a real ledger: limits and shares hold, each letter once, a crash loses nothing."""

from collections import Counter

import pytest
import redis

from models.base import Database
from pipeline.errors import LeaseLost
from pipeline.queue import TaskState
from tests.support.clock import FakeClock
from tests.support.dead_letters import TICK_MS, House
from tests.support.line import BLUE, GREEN, RED


@pytest.fixture
def house(valkey: redis.Redis, database: Database, clock: FakeClock) -> House:
    return House(valkey, database, clock)


@pytest.mark.feature("Q16")
def test_a_replayed_task_waits_and_runs_to_its_end_in_both_books(house: House) -> None:
    token = house.die("a")
    house.clock.advance(10 * 3_600_000)  # long after its time to live and the dedupe window
    house.ask()

    house.replayer.run()

    assert house.states("a") == ("queued", "queued")
    claim = house.line.claim()
    assert claim.token > token + 1
    assert house.queue.start("a", claim.token).attempt == 1
    assert house.ledger.start("a", claim.token, 1).state == "running"
    house.line.assert_books_balance()


@pytest.mark.feature("Q16")
def test_a_lease_that_follows_at_once_is_above_the_fence(house: House) -> None:
    token = house.die("a")
    house.clock.advance(-10)  # a clock set back: tokens then grow by one
    house.ask()

    house.replayer.run()

    claim = house.line.claim()
    assert house.ledger.start("a", claim.token, 1).token > token + 1


@pytest.mark.feature("Q16")
@pytest.mark.feature("Q7")
def test_a_worker_that_slept_over_a_replay_changes_nothing(house: House) -> None:
    token = house.die("a")
    house.ask()
    house.replayer.run()
    row, before = house.ledger.get("a"), house.line.snapshot()

    with pytest.raises(LeaseLost):
        house.ledger.put_back("a", token, "delayed", "storage_unavailable", "", 5)
    with pytest.raises(LeaseLost):
        house.queue.retry("a", token, cost_ms=1, delay_ms=1)

    assert (house.ledger.get("a"), house.line.snapshot()) == (row, before)


@pytest.mark.feature("Q16")
def test_a_round_without_a_letter_asks_the_queue_nothing(house: House) -> None:
    house.die("a")
    before = house.line.client.info("stats")["total_commands_processed"]

    house.replayer.run()

    assert house.line.client.info("stats")["total_commands_processed"] - before == 1  # our own INFO
    assert house.states("a") == ("dead", "dead")


@pytest.mark.feature("Q16")
def test_letters_are_replayed_oldest_first_at_the_pace_that_is_set(house: House) -> None:
    for number in range(30):
        house.die(f"t{number:02d}")
    house.ask()
    paced, seen = house.scheduler(10), []
    for _ in range(4):
        paced.run()
        seen.append(house.replayed())
        house.clock.advance(TICK_MS)

    assert seen == [5, 10, 15, 20]
    assert house.line.drain(20) == [f"t{number:02d}" for number in range(20)]


@pytest.mark.feature("Q16")
def test_several_schedulers_keep_one_pace_and_replay_each_letter_once(house: House) -> None:
    for number in range(20):
        house.die(f"t{number}")
    house.ask()
    schedulers = [house.scheduler(10) for _ in range(3)]
    for _ in range(4):
        for scheduler in schedulers:
            scheduler.run()
        assert house.replays.count_replayed(within_ms=1000) <= 10
        house.clock.advance(TICK_MS)

    assert house.replayed() == 20
    assert house.inspector.lanes()[0].waiting == 20
    assert len(house.line.drain(20)) == 20
    house.line.assert_books_balance()


@pytest.mark.feature("Q16")
def test_two_schedulers_with_the_same_letter_in_hand_replay_it_once(house: House) -> None:
    house.die("a")
    house.ask()
    (asked,) = house.replays.asked(passing_over=(), limit=9)
    house.replayer.run()

    assert house.reopen(asked) is None
    assert house.inspector.lanes()[0].waiting == 1


@pytest.mark.feature("Q16")
@pytest.mark.feature("Q5")
def test_a_device_that_replays_a_hundred_tasks_cannot_starve_a_light_one(house: House) -> None:
    for number in range(100):
        house.die(f"red{number}", RED)
    house.ask()
    house.replayer.run()
    assert house.replayed() == 100
    for number in range(10):
        house.submit(f"blue{number}", BLUE)

    served = house.line.drain(20)

    owners = Counter(task_id.rstrip("0123456789") for task_id in served)
    assert abs(owners["red"] - owners["blue"]) <= 2, "each has half of the turns while both wait"


@pytest.mark.feature("Q16")
def test_a_device_without_room_is_tried_later_and_holds_up_no_other(
    valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    house = House(valkey, database, clock, max_per_mac=2)
    for number in range(3):
        house.die(f"red{number}", RED)
    house.die("blue", BLUE)
    for number in range(2):
        house.submit(f"new{number}", RED)
    house.ask()

    house.replayer.run()
    assert house.states("blue") == ("queued", "queued")
    assert house.states("red0") == ("dead", "dead")
    assert house.letter("red0").replay_asked_ms is not None

    assert Counter(house.line.drain(3)) == Counter(["new0", "new1", "blue"])
    house.clock.advance(60_000)
    house.replayer.run()
    assert [house.states(f"red{number}")[1] for number in range(3)] == ["queued", "queued", "dead"]
    house.line.assert_books_balance()


@pytest.mark.feature("Q16")
def test_a_full_queue_ends_the_round_until_there_is_room(
    valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    house = House(valkey, database, clock, max_total=2)
    house.die("a", RED)
    house.die("b", BLUE)
    for number in range(2):
        house.submit(f"new{number}", GREEN)
    house.ask()

    house.replayer.run()
    house.line.drain(2)
    house.replayer.run()
    assert house.replayed() == 0, "it was told when to come back"

    house.clock.advance(60_000)
    house.replayer.run()
    assert house.replayed() == 2


@pytest.mark.feature("Q16")
def test_room_that_is_made_for_a_replay_is_written_in_both_books(
    valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    house = House(valkey, database, clock, max_per_mac=1, overload_policy="drop_oldest")
    house.die("a")
    house.submit("oldest")
    house.ask()

    house.replayer.run()

    assert house.states("a") == ("queued", "queued")
    assert house.states("oldest") == ("evicted", "evicted")


@pytest.mark.feature("Q16")
def test_a_task_that_is_no_longer_dead_is_refused_with_the_reason(house: House) -> None:
    house.die("a")
    house.die("b")
    house.ask()
    house.reopen(house.replays.asked(passing_over=(), limit=1)[0])
    house.ledger.close("a", "cancelled", "cancelled", "")
    house.ledger._database.execute_sql("UPDATE dead_letter SET replayed_ms = NULL WHERE task_id = 'a'")

    house.replayer.run()

    letter = house.letter("a")
    assert (letter.replay_asked_ms, letter.replayed_ms) == (None, None)
    assert "cancelled" in letter.replay_refusal
    assert house.states("b") == ("queued", "queued"), "the next one is replayed all the same"


def test_a_task_whose_worker_has_not_told_the_queue_yet_is_replayed_a_little_later(house: House) -> None:
    house.submit("a")
    claim = house.line.claim()
    house.ledger.end("a", claim.token, "dead", "engine_timeout", "")
    house.ask()
    house.replayer.run()
    assert house.states("a") == ("leased", "dead")

    house.queue.bury("a", claim.token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=1)
    house.clock.advance(5_000)
    house.replayer.run()

    assert house.states("a") == ("queued", "queued")
