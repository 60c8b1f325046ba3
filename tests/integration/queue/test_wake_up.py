"""Waking: a lone task starts at once, and one task wakes one waiter."""

import threading

import redis

from pipeline.clock import SystemClock
from pipeline.queue import FairQueue, Rules, Task


def test_a_submit_wakes_one_of_the_waiting_consumers(valkey: redis.Redis) -> None:
    queue = FairQueue(valkey, Rules())
    clock = SystemClock()
    waits_ms: list[int] = []
    ready = threading.Barrier(4)

    def wait() -> None:
        ready.wait()
        began_ms = clock.monotonic_ms()
        queue.wait_for_work("text", timeout_s=2)
        waits_ms.append(clock.monotonic_ms() - began_ms)

    waiters = [threading.Thread(target=wait) for _ in range(3)]
    for waiter in waiters:
        waiter.start()
    ready.wait()
    while valkey.info("clients")["blocked_clients"] < 3:
        pass
    queue.enqueue(Task("t", "text", "aa0000000001", 0))
    for waiter in waiters:
        waiter.join()

    assert sorted(wait_ms >= 2_000 for wait_ms in waits_ms) == [False, True, True]


def test_an_empty_claim_throws_stale_wake_ups_away(valkey: redis.Redis) -> None:
    queue = FairQueue(valkey, Rules())
    queue.enqueue(Task("t", "text", "aa0000000001", 0))
    queue.claim("text")

    assert not queue.claim("text")
    assert valkey.exists(queue.keys.wake("text")) == 0
