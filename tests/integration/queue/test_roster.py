"""The registry of live workers: who is beside whom."""

import pytest
import redis

from pipeline.queue import Roster
from pipeline.queue.keys import Keys
from tests.support.clock import FakeClock


def test_workers_beside_one_another_share_host_and_process_table(valkey: redis.Redis, clock: FakeClock) -> None:
    roster = Roster(valkey, Keys("sensitive:"), clock)
    for worker_id, machine in {"h:1": "m", "h:2": "m", "h:3": "other boot", "h2:4": "m", "h:x:5": "m"}.items():
        roster.enter(worker_id, {"machine": machine}, ttl_ms=60_000)
    roster.enter("h:6", {"hostname": "of an older version"}, ttl_ms=60_000)
    valkey.zadd(roster._keys.workers(), {"h:7": clock.now_ms() + 1_000})  # its entry has run out

    assert sorted(roster.pids_beside("h", "m")) == [1, 2]


def test_nobody_is_beside_an_empty_host(valkey: redis.Redis, clock: FakeClock) -> None:
    assert Roster(valkey, Keys("sensitive:"), clock).pids_beside("h", "m") == []


def test_entries_that_no_fairlane_wrote_hide_no_worker(valkey: redis.Redis, clock: FakeClock) -> None:
    roster = Roster(valkey, Keys("sensitive:"), clock)
    valkey.zadd(roster._keys.workers(), {b"\xff\xfe": clock.now_ms() + 60_000, b"odd": clock.now_ms() + 60_000})
    valkey.hset(
        roster._keys.worker("odd"), mapping={b"queues": b"ocr", b"effective_concurrency": b"", b"\xff": b"\xfe"}
    )
    roster.enter("h:1", {"queues": "ocr", "effective_concurrency": "3", "machine": "m"}, ttl_ms=60_000)

    assert roster.slots() == {"ocr": 3, "text": 0, "notify": 0}
    assert roster.pids_beside("h", "m") == [1]


def test_a_heartbeat_tells_its_age_and_the_workers_clock_by_that_of_the_server(valkey: redis.Redis) -> None:
    seconds, micros = valkey.time()
    now_ms = seconds * 1000 + micros // 1000
    ahead = FakeClock(now_ms + 90_000)
    Roster(valkey, Keys("sensitive:"), ahead).enter("h:1", {"last_heartbeat": str(ahead.now_ms())}, ttl_ms=60_000)
    roster = Roster(valkey, Keys("sensitive:"), FakeClock(now_ms))
    valkey.pexpire(roster._keys.worker("h:1"), 48_000)  # as 12 s later
    roster.enter("h:2", {"hostname": "says no time"}, ttl_ms=60_000)

    (beat,) = roster.heartbeats(now_ms + 12_000)

    assert beat.worker_id == "h:1"
    assert beat.age_ms == pytest.approx(12_000, abs=500)
    assert beat.skew_ms == pytest.approx(90_000, abs=500)
