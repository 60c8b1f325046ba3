"""Several tasks claimed for one slot of a queue in shards."""

import redis

from pipeline.queue import Claim
from tests.support.clock import FakeClock
from tests.support.line import ShardedLine

#: What tasks of these tests cost, worker-ms, and for how long one slot is filled.
COST_MS, SLOT_MS = 10, 80


def claim_slot(line: ShardedLine, limit: int) -> list[Claim]:
    return line.queue.claim("ocr", limit=limit, per_turn=1, slot_ms=SLOT_MS)


def test_over_shards_a_consumer_learns_what_each_site_of_a_slot_weighs(valkey: redis.Redis, clock: FakeClock) -> None:
    line = ShardedLine(valkey, clock, 2)
    line.submit(line.mac_in(0), 40)
    line.drain(40, cost_ms=COST_MS)
    for site, weight in (("north", 1), ("south", 3)):
        line.queue.set_site(site, weight=weight)
    line.submit(line.mac_in(0), 2, site="north")
    line.submit(other_mac_in(line, 0), 2, site="south")

    turn = line.queue.shards[0].take_turn("ocr", 4, 1, SLOT_MS)

    assert turn is not None
    assert turn.weighed == {"north": (1, 1), "south": (3, 1)}


def other_mac_in(line: ShardedLine, shard: int) -> str:
    return next(
        mac
        for number in range(1_000)
        if line.queue.home_number(mac := f"0e{number:010x}") == shard and mac != line.mac_in(shard)
    )


def test_over_shards_a_slot_is_filled_from_one_and_each_lease_is_told_to_its_own(
    valkey: redis.Redis, clock: FakeClock
) -> None:
    line = ShardedLine(valkey, clock, 3)
    for shard in range(3):
        line.submit(line.mac_in(shard), 40)
    line.drain(120 - 3 * 10, cost_ms=COST_MS)

    slots = [claim_slot(line, limit=4) for _ in range(3)]

    assert [len({claim.token % 64 for claim in claims}) for claims in slots] == [1] * 3
    assert sorted(len(claims) for claims in slots) == [4] * 3
    mixed = [(claim.task_id, claim.token, 1) for claims in zip(*slots, strict=True) for claim in claims]
    assert line.queue.complete_each(mixed) == [None] * 12
    line.assert_books_balance()
