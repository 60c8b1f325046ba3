"""Buckets of requests and nonces, as the script keeps them."""

import pytest
import redis

from pipeline.queue import Bucket, RequestLimits
from pipeline.queue.keys import Keys
from tests.support.clock import FakeClock

SLOW = Bucket("key", "k", 6)  # one in 10 s, one at once
WIDE = Bucket("address", "10.0.0.1", 60)  # one a second, ten at once


@pytest.fixture
def limits(valkey: redis.Redis, clock: FakeClock) -> RequestLimits:
    return RequestLimits(valkey, Keys("t:"), clock)


def test_take_lets_a_burst_through_and_then_the_rate(limits: RequestLimits, clock: FakeClock) -> None:
    burst = [limits.take(WIDE) for _ in range(11)]
    assert [level.left for level in burst] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]
    assert [level.retry_after_ms for level in burst] == [0] * 10 + [1_000]
    assert burst[0].full_in_ms == 1_000
    clock.advance(999)
    assert limits.take(WIDE).retry_after_ms == 1
    clock.advance(1)
    assert limits.take(WIDE).retry_after_ms == 0
    assert limits.take(WIDE).retry_after_ms == 1_000


@pytest.mark.parametrize("per_minute", [1, 7, 59, 61, 1_000])
def test_take_lets_through_exactly_the_rate_in_the_long_run(
    limits: RequestLimits, clock: FakeClock, per_minute: int
) -> None:
    bucket = Bucket("key", "k", per_minute)
    while limits.take(bucket).retry_after_ms == 0:
        pass
    let_through = 0
    for _ in range(120):
        clock.advance(1_000)
        while limits.take(bucket).retry_after_ms == 0:
            let_through += 1
    assert abs(let_through - 2 * per_minute) <= 1


def test_a_refused_wish_changes_nothing(limits: RequestLimits, valkey: redis.Redis) -> None:
    limits.take(SLOW)
    before = valkey.get("t:limit:key:k")
    assert limits.take(SLOW).retry_after_ms == 10_000
    assert valkey.get("t:limit:key:k") == before


def test_a_bucket_leaves_redis_when_it_is_full(limits: RequestLimits, valkey: redis.Redis) -> None:
    limits.take(SLOW)
    assert valkey.keys("*") == [b"t:limit:key:k"]
    assert 9_000 < valkey.pttl("t:limit:key:k") <= 10_000


@pytest.mark.parametrize("garbage", ["nan", "inf", "x", "1e300", "9" * 30, "-5"])
def test_what_no_fairlane_wrote_shuts_nobody_out(limits: RequestLimits, valkey: redis.Redis, garbage: str) -> None:
    valkey.set("t:limit:key:k", garbage)
    assert limits.take(SLOW).retry_after_ms == 0
    assert limits.take(SLOW).retry_after_ms == 10_000


def test_a_clock_that_is_set_back_shuts_nobody_out(limits: RequestLimits, clock: FakeClock) -> None:
    limits.take(SLOW)
    clock.advance(-3_600_000)
    assert limits.take(SLOW).retry_after_ms == 0


def test_a_nonce_is_new_once(limits: RequestLimits, valkey: redis.Redis) -> None:
    assert limits.note_nonce("k", "n", ttl_ms=5_000)
    assert not limits.note_nonce("k", "n", ttl_ms=5_000)
    assert limits.note_nonce("other", "n", ttl_ms=5_000)
    assert 0 < valkey.pttl("t:nonce:k:n") <= 5_000
