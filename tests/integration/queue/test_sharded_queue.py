"""A queue in shards: what was promised of one queue holds, whichever shard a device lives in."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest
import redis

from pipeline.clock import SystemClock
from pipeline.errors import LeaseLost
from pipeline.queue import FairQueue, Inspector, Rules, Standing, Task, TaskState
from pipeline.queue.pages import Pages
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector, ShardedPages
from pipeline.queue.types import DeviceRules
from tests.support.clock import FakeClock
from tests.support.line import ShardedLine

SHARDS = 4


@pytest.fixture
def line(valkey: redis.Redis, clock: FakeClock) -> ShardedLine:
    return ShardedLine(valkey, clock, SHARDS)


def one_device_in_each(line: ShardedLine) -> list[str]:
    return [line.mac_in(shard) for shard in range(SHARDS)]


@pytest.mark.parametrize(
    ("whole", "sharded", "of_the_whole"),
    [
        (FairQueue, ShardedQueue, set()),
        (Inspector, ShardedInspector, {"now_ms", "watermark"}),
        (Pages, ShardedPages, {"states"}),
    ],
)
def test_no_method_forgets_the_shards(whole: type, sharded: type, of_the_whole: set[str]) -> None:
    methods = {name for name in dir(whole) if not name.startswith("_") and callable(getattr(whole, name))}

    assert methods - of_the_whole <= set(vars(sharded))


def test_every_key_is_in_the_slot_of_its_shard(line: ShardedLine) -> None:
    for mac in one_device_in_each(line):
        line.submit(mac, 2)
    line.drain(6)

    prefixes = Counter(key.partition(b"}:")[0] for key in line.client.keys("*"))
    assert set(prefixes) == {b"{sensitive:%d" % shard for shard in range(SHARDS)}


def test_what_follows_a_claim_finds_its_shard_in_any_process(line: ShardedLine) -> None:
    for mac in one_device_in_each(line):
        line.submit(mac)
    another = ShardedQueue(line.client, line.rules, SHARDS, line.clock)
    for _ in range(SHARDS):
        claim = line.claim()
        assert another.start(claim.task_id, claim.token).attempt == 1
        another.renew(claim.task_id, claim.token)
        another.complete(claim.task_id, claim.token, cost_ms=5)

    assert [books.ended[TaskState.DONE] for books in line.inspector.audit()] == [SHARDS, 0, 0]
    line.assert_books_balance()


def test_tokens_of_every_shard_grow_and_never_fall_behind_the_clock(line: ShardedLine) -> None:
    mac = line.mac_in(3)
    line.submit(mac, 3)
    tokens = [line.claim().token for _ in range(3)]

    assert tokens == sorted(set(tokens))
    assert tokens[0] >= line.clock.now_ms() * 1000
    assert [token % 64 for token in tokens] == [3, 3, 3]


def test_a_token_of_another_layout_is_a_lost_lease(line: ShardedLine) -> None:
    with pytest.raises(LeaseLost):
        line.queue.complete("t", 64 * 10**12 + SHARDS, cost_ms=1)


def test_a_device_is_served_in_its_order_and_devices_in_turn(line: ShardedLine) -> None:
    macs = one_device_in_each(line)
    ids = {mac: line.submit(mac, 3) for mac in macs}

    served = line.drain(12)

    for own in ids.values():
        assert [task_id for task_id in served if task_id in own] == own
    assert all(Counter(served[:8])[task_id] <= 1 for task_id in served)
    assert sorted(sum(task_id in served[:8] for task_id in own) for own in ids.values()) == [2, 2, 2, 2]


@pytest.mark.feature("Q8")
def test_shares_do_not_depend_on_how_devices_fall_into_shards(line: ShardedLine) -> None:
    macs = [line.mac_in(0, number) for number in range(6)] + [line.mac_in(1), line.mac_in(1, 1), line.mac_in(2)]
    owner = {task_id: mac for mac in macs for task_id in line.submit(mac, 60)}

    served = Counter(owner[task_id] for task_id in line.drain(360))

    jain = sum(served.values()) ** 2 / (len(macs) * sum(count**2 for count in served.values()))
    assert jain >= 0.99


def test_a_newcomer_waits_for_no_backlog_of_other_shards(line: ShardedLine) -> None:
    for shard in range(3):
        for number in range(5):
            line.submit(line.mac_in(shard, number), 20)
    line.drain(30)
    (light,) = line.submit(line.mac_in(3))

    assert line.claim().task_id == light


@pytest.mark.parametrize("keep_house", [lambda queue: queue.reap("ocr"), lambda queue: queue.expire()])
def test_house_is_kept_in_every_shard(
    valkey: redis.Redis, clock: FakeClock, keep_house: Callable[[ShardedQueue], list[object]]
) -> None:
    line = ShardedLine(valkey, clock, SHARDS, Rules(ttl_ms=60_000))
    for mac in one_device_in_each(line):
        line.submit(mac, 2)
    for _ in range(SHARDS):
        line.claim()
    clock.advance(60_000)

    assert len(keep_house(line.queue)) == SHARDS
    line.assert_books_balance()


def test_promote_and_resume_reach_every_shard(line: ShardedLine) -> None:
    macs = one_device_in_each(line)
    for mac in macs:
        line.submit(mac, 2)
    claims = [line.claim() for _ in macs]
    for claim in claims:
        line.queue.defer(claim.task_id, claim.token, code="no_capable_worker")
    line.clock.advance(30_000)

    assert len(line.queue.resume()) == len(macs)
    assert sorted(line.queue.promote()) == sorted(claim.task_id for claim in claims)
    line.assert_books_balance()


def test_many_are_restored_in_two_round_trips_a_shard(line: ShardedLine) -> None:
    tasks = [Task(f"t{number}", "ocr", f"{number:012x}", 1 + number) for number in range(40)]
    line.queue.enqueue(tasks[7])
    line.queue.restore([Standing(tasks[7])])  # so that the server knows the script
    before = line.client.info("stats")["total_reads_processed"]

    states = line.queue.restore([Standing(task, due_ms=1) for task in tasks])

    assert line.client.info("stats")["total_reads_processed"] - before <= 2 * SHARDS + 1
    assert states == [TaskState.QUEUED] * 40
    waiting = (TaskState.QUEUED, "", 0)
    assert line.inspector.endings(["t7", "nobody", "t8"]) == [waiting, None, waiting]
    line.assert_books_balance()


def test_rules_of_devices_and_sites_reach_their_shards(line: ShardedLine) -> None:
    paused = line.mac_in(2)
    line.submit(paused)
    line.queue.set_device(paused, DeviceRules(is_paused=True))
    assert line.queue.claim("ocr") == []

    line.queue.set_site("local", weight=3)

    weights = [line.client.hget(shard.keys.lane("ocr"), "local|weight") for shard in line.queue.shards]
    assert [float(weight or 0) for weight in weights] == [3.0] * SHARDS


def test_a_consumer_is_woken_by_any_shard_at_once(valkey: redis.Redis) -> None:
    line = ShardedLine(valkey, FakeClock(), SHARDS)
    clock = SystemClock()
    for shard in range(SHARDS):
        began_ms = clock.monotonic_ms()
        waiter = threading.Thread(target=line.queue.wait_for_work, args=("ocr",), kwargs={"timeout_s": 5})
        waiter.start()
        while not valkey.info("clients")["blocked_clients"]:
            pass
        line.submit(line.mac_in(shard))
        waiter.join()
        line.drain(1)
        line.queue.claim("ocr")

        assert clock.monotonic_ms() - began_ms < 2_000


def test_a_turn_may_give_several_tasks_of_one_device(line: ShardedLine) -> None:
    ids = line.submit(line.mac_in(2), 3)

    claims = line.queue.claim("ocr", limit=5)

    assert [claim.task_id for claim in claims] == ids
    for claim in claims:
        line.queue.hand_back(claim.task_id, claim.token)
    retried = line.claim()
    line.queue.start(retried.task_id, retried.token)
    line.queue.retry(retried.task_id, retried.token, cost_ms=1, delay_ms=10)
    line.assert_books_balance()
