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
    burst = [limits.take([WIDE]) for _ in range(11)]
    assert [taken.empty for taken in burst] == [None] * 10 + [WIDE]
    assert [taken.levels[0].left for taken in burst] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]
    assert burst[-1].retry_after_ms == 1_000
    clock.advance(999)
    assert limits.take([WIDE]).empty == WIDE
    clock.advance(1)
    assert limits.take([WIDE]).empty is None
    assert limits.take([WIDE]).empty == WIDE


def test_take_takes_out_of_all_buckets_or_of_none(limits: RequestLimits, valkey: redis.Redis, clock: FakeClock) -> None:
    assert limits.take([WIDE, SLOW]).empty is None
    before = valkey.get("t:limit:address:10.0.0.1")
    refused = limits.take([WIDE, SLOW])
    assert (refused.empty, refused.retry_after_ms) == (SLOW, 10_000)
    assert [level.left for level in refused.levels] == [9, 0]
    assert valkey.get("t:limit:address:10.0.0.1") == before
    clock.advance(10_000)
    assert limits.take([WIDE, SLOW]).empty is None


def test_take_names_the_bucket_that_is_empty_for_longest(limits: RequestLimits) -> None:
    quick = Bucket("device", "d", 30)
    for _ in range(5):
        limits.take([quick])
    limits.take([SLOW])
    assert limits.take([quick, SLOW]).empty == SLOW


def test_a_bucket_leaves_redis_when_it_is_full(limits: RequestLimits, valkey: redis.Redis) -> None:
    limits.take([SLOW, WIDE])
    assert sorted(valkey.keys("*")) == [b"t:limit:address:10.0.0.1", b"t:limit:key:k"]
    assert 9_000 < valkey.pttl("t:limit:key:k") <= 10_000


@pytest.mark.parametrize("garbage", ["nan", "inf", "x", "1e300", "9" * 30, "-5"])
def test_what_no_fairlane_wrote_shuts_nobody_out(limits: RequestLimits, valkey: redis.Redis, garbage: str) -> None:
    valkey.set("t:limit:key:k", garbage)
    assert limits.take([SLOW]).empty is None
    assert limits.take([SLOW]).empty == SLOW


def test_a_clock_that_is_set_back_shuts_nobody_out(limits: RequestLimits, clock: FakeClock) -> None:
    limits.take([SLOW])
    clock.advance(-3_600_000)
    assert limits.take([SLOW]).empty is None


def test_no_bucket_is_no_question(limits: RequestLimits, valkey: redis.Redis) -> None:
    assert limits.take([]).levels == ()
    assert valkey.keys("*") == []


def test_many_at_once_take_no_more_than_there_is(limits: RequestLimits) -> None:
    assert sum(limits.take([WIDE]).empty is None for _ in range(50)) == 10


def test_a_nonce_is_new_once(limits: RequestLimits, valkey: redis.Redis) -> None:
    assert limits.note_nonce("k", "n", ttl_ms=5_000)
    assert not limits.note_nonce("k", "n", ttl_ms=5_000)
    assert limits.note_nonce("other", "n", ttl_ms=5_000)
    assert 0 < valkey.pttl("t:nonce:k:n") <= 5_000
