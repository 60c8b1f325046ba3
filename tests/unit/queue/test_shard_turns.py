"""The order of the shards: shares by what they hold, no credit for being away, no waiting for a silent one."""

import pytest

from pipeline.queue.shard_turns import REST_MAX_MS, REST_MIN_MS, ShardTurns, Turn, rested_ms


def turn(site: str = "local", *, devices: float = 1, charge_ms: float = 100, sites: int = 1, weight: float = 1) -> Turn:
    return Turn([], charge_ms, {site: (weight, devices)}, sites)


def serve(turns: ShardTurns, gives: dict[int, Turn], rounds: int) -> dict[int, int]:
    """How often each shard is served, when these have work without end and the others have none."""
    served = dict.fromkeys(gives, 0)
    for _ in range(rounds):
        for shard in turns.order(0):
            if shard in gives:
                turns.served(shard, gives[shard])
                served[shard] += 1
                break
            turns.found_empty(shard)
    return served


def test_shards_are_served_by_the_weight_of_their_devices() -> None:
    served = serve(ShardTurns(3), {0: turn(devices=30), 1: turn(devices=10), 2: turn(devices=20)}, 600)

    assert served == pytest.approx({0: 300, 1: 100, 2: 200}, abs=3)


def test_a_shard_pays_for_what_its_tasks_cost() -> None:
    served = serve(ShardTurns(2), {0: turn(charge_ms=1000), 1: turn(charge_ms=10)}, 1010)

    assert served[1] / served[0] == pytest.approx(100, rel=0.15)


def test_a_site_of_few_devices_is_not_drowned_by_one_of_many() -> None:
    # One device of a site in shard 0; a hundred of another, half of them in each. The first site is due a half; a
    # quarter is what it would get by equal shares of the shards, a hundredth by counting devices.
    turns = ShardTurns(2)
    small = 0
    for number in range(1000):
        shard = turns.order(0)[0]
        is_small = shard == 0 and number % 2 == 0
        turns.served(shard, turn("small", sites=2) if is_small else turn("big", devices=50, sites=2 - shard))
        small += shard == 0
    assert small / 2 / 1000 == pytest.approx(0.375, abs=0.02)


def test_a_shard_that_was_empty_is_asked_first_but_gets_no_credit() -> None:
    turns = ShardTurns(2)
    serve(turns, {0: turn()}, 100)
    assert turns.order(0) == [1, 0]

    served = serve(turns, {0: turn(), 1: turn()}, 100)

    assert served == pytest.approx({0: 50, 1: 50}, abs=1)


def test_a_shard_that_is_ahead_does_not_get_ahead_by_being_empty() -> None:
    turns = ShardTurns(2)
    serve(turns, {0: turn(), 1: turn()}, 2)
    turns.served(1, turn(charge_ms=1000))

    turns.found_empty(1)

    assert turns.order(0) == [0, 1]


def test_a_silent_shard_is_left_alone_for_a_while() -> None:
    turns = ShardTurns(2)

    turns.was_silent(0, asked_ms=1_000, now_ms=1_000)

    assert turns.order(1_000 + REST_MIN_MS - 1) == [1]
    assert turns.order(1_000 + REST_MIN_MS) == [0, 1]


@pytest.mark.parametrize(("waited_ms", "rest_ms"), [(0, REST_MIN_MS), (700, 7_000), (60_000, REST_MAX_MS)])
def test_who_makes_us_wait_long_rests_long(waited_ms: int, rest_ms: int) -> None:
    assert rested_ms(1_000, 1_000 + waited_ms) == 1_000 + waited_ms + rest_ms


def test_when_all_were_silent_all_are_asked() -> None:
    turns = ShardTurns(2)
    turns.was_silent(0, asked_ms=0, now_ms=0)
    turns.was_silent(1, asked_ms=0, now_ms=0)

    assert sorted(turns.order(1)) == [0, 1]
