"""Several tasks claimed for one slot: how many, how busy they keep it, and how each of them ends."""

import pytest
import redis

from pipeline.errors import LeaseLost
from pipeline.queue import Claim, DeviceRules, Rules, Started
from tests.support.clock import FakeClock
from tests.support.line import BLUE, GREEN, LEAVING, RED, Line, ShardedLine

#: What tasks of these tests cost, worker-ms, and for how long one slot is filled.
COST_MS, SLOT_MS = 10, 80


def teach(line: Line) -> None:
    """Let the lane learn what its tasks cost."""
    line.submit(GREEN, 40)
    line.drain(40, cost_ms=COST_MS)


def claim_slot(line: Line, limit: int = 32) -> list[Claim]:
    return line.queue.claim("ocr", limit=limit, per_turn=1, slot_ms=SLOT_MS)


def busy_slots(line: Line) -> float:
    return float(line.client.hget(line.queue.keys.lane("ocr"), "busy") or 0)  # type: ignore[arg-type]


@pytest.mark.feature("Q6")
def test_a_slot_is_filled_by_estimated_cost_turn_after_turn(line: Line) -> None:
    teach(line)
    line.submit(RED, 30)
    line.submit(BLUE, 2)

    claims = claim_slot(line)

    assert sum(claim.mac == BLUE for claim in claims) == 2
    learnt_ms = -(-SLOT_MS // len(claims))
    assert COST_MS <= learnt_ms <= 2 * COST_MS, "the estimate is a decayed maximum"
    assert len(claim_slot(line, limit=3)) == 3


@pytest.mark.feature("Q6")
def test_what_nobody_knows_yet_is_claimed_alone(line: Line) -> None:
    line.submit(RED, 5)

    assert len(claim_slot(line)) == 1


@pytest.mark.feature("Q6")
def test_a_size_of_which_nobody_knows_the_cost_is_claimed_alone(line: Line) -> None:
    teach(line)
    line.submit(RED, 2)
    line.submit(BLUE, 2, size_class=20)

    slots = []
    while claims := claim_slot(line):
        slots.append([claim.mac for claim in claims])

    assert [slot for slot in slots if BLUE in slot] == [[BLUE], [BLUE]]
    line.assert_books_balance()


@pytest.mark.feature("Q6")
def test_what_would_keep_the_slot_busy_for_too_long_is_not_put_on_top(line: Line) -> None:
    teach(line)
    line.submit(BLUE, 1, size_class=20)
    line.drain(1, cost_ms=3_000)
    line.submit(RED, 2)
    line.submit(BLUE, 2, size_class=20)
    line.submit(GREEN, 2)

    slots = []
    while claims := claim_slot(line):
        slots.append([claim.mac for claim in claims])

    assert [slot for slot in slots if BLUE in slot] == [[BLUE], [BLUE]]
    assert len(slots) <= 5
    line.assert_books_balance()


@pytest.mark.feature("Q18")
def test_what_a_device_may_have_in_flight_is_not_put_into_one_slot(line: Line) -> None:
    teach(line)
    line.queue.set_device(RED, DeviceRules(max_inflight=2))
    line.submit(RED, 4)
    line.submit(BLUE, 2)

    first, second = claim_slot(line), claim_slot(line)

    assert [[claim.mac for claim in slot].count(RED) for slot in (first, second)] == [1, 1]
    assert [claim.mac for slot in (first, second) for claim in slot].count(BLUE) == 2
    line.assert_books_balance()


@pytest.mark.feature("Q6")
def test_tasks_of_one_slot_keep_one_slot_busy(line: Line) -> None:
    teach(line)
    line.submit(RED, 30)
    line.submit(BLUE, 30, site="north")

    first, second = claim_slot(line), claim_slot(line, limit=3)
    assert min(len(first), len(second)) == 3
    assert busy_slots(line) == pytest.approx(2)
    (status,) = (status for status in line.inspector.lanes() if status.lane == "ocr")
    assert (status.leased, status.busy_slots) == (len(first) + len(second), 2)
    line.assert_books_balance()

    for claim in first:
        line.queue.complete(claim.task_id, claim.token, cost_ms=COST_MS)
    assert busy_slots(line) == 1
    line.assert_books_balance()


@pytest.mark.parametrize("how", LEAVING)
def test_whatever_way_they_go_the_slot_is_free_in_the_end(line: Line, how: str) -> None:
    teach(line)
    line.submit(RED, 7)

    claims = claim_slot(line, limit=7)
    for claim in claims:
        line.queue.start(claim.task_id, claim.token)
        LEAVING[how](line.queue, claim.task_id, claim.token)
        line.assert_books_balance()

    assert busy_slots(line) == 0
    if how in ("retry", "hand_back"):
        line.clock.advance(10)
        line.queue.promote()
        line.claim()
        assert busy_slots(line) == 1, "by itself it keeps a whole one busy"


@pytest.mark.feature("Q9")
def test_a_crash_charges_them_together_for_the_time_of_their_slot(line: Line) -> None:
    teach(line)
    line.submit(RED, 5)
    assert len(claim_slot(line, limit=5)) == 5
    line.clock.advance(line.rules.lease_ms + 1)
    assert len(line.queue.reap("ocr")) == 5

    meta = line.client.hgetall(line.queue.keys.meta(RED))
    assert float(meta[b"served:ocr"]) == pytest.approx(line.rules.lease_ms + 1, abs=5)  # type: ignore[index]
    assert busy_slots(line) == 0
    line.assert_books_balance()


@pytest.mark.feature("Q9")
def test_what_has_cost_a_worker_has_a_slot_by_itself(line: Line) -> None:
    teach(line)
    line.submit(RED, 3)
    line.submit(BLUE, 6)
    (lost,) = (claim for claim in claim_slot(line, limit=2) if claim.mac == BLUE)
    line.queue.retry(lost.task_id, lost.token, cost_ms=1, delay_ms=1, is_loss=True)
    line.clock.advance(2)
    line.queue.promote()

    slots = []
    while claims := claim_slot(line):
        slots.append([claim.task_id for claim in claims])

    assert [lost.task_id] in slots
    assert sum(map(len, slots)) == 8
    assert len(slots) <= 3, "those before it share a slot, those behind it another"
    line.assert_books_balance()


@pytest.mark.feature("Q5")
def test_a_newcomer_comes_next_however_long_slots_have_been_shared(line: Line) -> None:
    teach(line)
    line.submit(RED, 200)
    line.submit(BLUE, 200)
    for _ in range(12):
        claims = claim_slot(line)
        line.clock.advance(COST_MS * len(claims))
        for claim in claims:
            line.queue.complete(claim.task_id, claim.token, cost_ms=COST_MS)

    line.submit("dd0000000004", 1)

    assert "dd0000000004" in [claim.mac for claim in claim_slot(line, limit=3)]


@pytest.mark.feature("Q1")
def test_devices_share_a_slot_by_what_their_tasks_cost(line: Line) -> None:
    costs = {RED: 30, BLUE: 10}
    for mac, cost_ms in costs.items():
        line.submit(mac, 20, size_class=cost_ms)
    for _ in range(40):
        claim = line.claim()
        line.queue.complete(claim.task_id, claim.token, cost_ms=costs[claim.mac])
    line.submit(RED, 200, size_class=30)
    line.submit(BLUE, 200, size_class=10)

    served = {RED: 0, BLUE: 0}
    for _ in range(20):
        claims = claim_slot(line)
        for claim in claims:
            line.clock.advance(costs[claim.mac])
        for claim in claims:
            line.queue.complete(claim.task_id, claim.token, cost_ms=costs[claim.mac])
            served[claim.mac] += costs[claim.mac]

    assert served[RED] == pytest.approx(served[BLUE], abs=2 * SLOT_MS)


def test_what_one_slot_does_has_begun_with_its_claim(line: Line) -> None:
    teach(line)
    line.submit(RED, 2, payload=b"a key")
    (first,) = claim_slot(line, limit=1)
    line.queue.retry(first.task_id, first.token, cost_ms=1, delay_ms=1)
    line.clock.advance(2)
    line.queue.promote()

    claims = claim_slot(line)

    assert [claim.started for claim in claims] == [Started(2, 0, b"a key"), Started(1, 0, b"a key")]
    for claim in claims:
        assert line.queue.start(claim.task_id, claim.token) == claim.started, "another start changes nothing"
    line.queue.hand_back(claims[0].task_id, claims[0].token)
    assert claim_slot(line)[0].started == Started(2, 0, b"a key")


def test_completed_together_each_stands_for_itself(line: Line) -> None:
    line.submit(RED, 2)
    line.submit(BLUE, 2, site="north")
    lost, *held = [line.claim() for _ in range(4)]
    line.queue.hand_back(lost.task_id, lost.token)

    ends = [(claim.task_id, claim.token, 5) for claim in (lost, *held)]
    done = line.queue.complete_each([*ends, ("unknown", 7, 1)])

    assert [type(one) for one in done] == [LeaseLost, *[type(None)] * 3, LeaseLost]
    assert "it is queued now" in str(done[0])
    assert "it is unknown now" in str(done[-1])
    assert [(line.inspector.endings([claim.task_id])[0] or ("",))[0] for claim in held] == ["done"] * 3
    line.assert_books_balance()


def test_completed_together_is_as_completed_one_by_one(valkey: redis.Redis, clock: FakeClock) -> None:
    """Over two sites, of whom each has two devices, of whom one has more in line and one has not."""
    after = []
    for is_together in (True, False):
        valkey.flushall()
        line = Line(valkey, clock, Rules(prefix="one:"))
        for number, mac in enumerate(("aa0000000001", "aa0000000002", "aa0000000003", "aa0000000004")):
            line.submit(mac, 2 + number % 2, site="north" if number > 1 else "south")
        ends = [(claim.task_id, claim.token, 7) for claim in (line.claim() for _ in range(8))]
        clock.advance(50)
        for some in [ends] if is_together else [[end] for end in ends]:
            assert line.queue.complete_each(some) == [None] * len(some)
        after.append({key: contents(valkey, key) for key in sorted(valkey.keys("*"))})
        line.assert_books_balance()
        clock.advance(-50)

    assert after[0] == after[1]


def contents(client: redis.Redis, key: bytes) -> object:
    kinds = {b"hash": client.hgetall, b"zset": lambda name: client.zrange(name, 0, -1, withscores=True)}
    read = kinds.get(client.type(key))  # type: ignore[arg-type]
    return read(key) if read else client.dump(key)  # type: ignore[operator]


def test_over_shards_a_consumer_learns_what_each_site_of_a_slot_weighs(valkey: redis.Redis, clock: FakeClock) -> None:
    line = ShardedLine(valkey, clock, 2)
    line.submit(line.mac_in(0), 40)
    line.drain(40, cost_ms=COST_MS)
    for site, weight in (("north", 1), ("south", 3)):
        line.queue.set_site(site, weight=weight)
    line.submit(line.mac_in(0), 2, site="north")
    line.submit(line.mac_in(0, 1), 2, site="south")

    turn = line.queue.shards[0].take_turn("ocr", 4, 1, SLOT_MS)

    assert turn is not None
    assert turn.weighed == {"north": (1, 1), "south": (3, 1)}


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
