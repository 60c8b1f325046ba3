"""What the scale benchmark lets the server itself put in line is what enqueues would have put there."""

from typing import Any

import pytest
import redis

from benchmarks.scale_fill import deepen, enqueue_all
from benchmarks.scale_hosts import Place, task_of
from pipeline.queue import FairQueue, Inspector
from tests.support.clock import FakeClock

pytestmark = pytest.mark.bench

DEVICES = 3


def stored(client: redis.Redis, prefix: str) -> dict[str, Any]:
    """All keys but the wake-ups, which enqueues leave for consumers."""
    reads = {"hash": client.hgetall, "string": client.get, "set": client.smembers}
    found = {}
    for key in client.scan_iter(f"{prefix}*"):
        kind = client.type(key).decode()
        if kind != "list":
            read = reads.get(kind, lambda name: client.zrange(name, 0, -1, withscores=True))
            found[key.decode().removeprefix(prefix)] = read(key)
    return found


def test_a_deepened_queue_is_what_enqueues_would_have_made(
    valkey: redis.Redis, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey, "time", lambda: (clock.now_ms() // 1000, clock.now_ms() % 1000 * 1000))
    enqueued, deepened = (Place("", prefix=prefix) for prefix in ("enqueued:", "deepened:"))
    queue = FairQueue(valkey, enqueued.rules, clock)
    for number in range(3):
        for device in range(DEVICES):
            queue.enqueue(task_of(device, number))

    enqueue_all(valkey, deepened, DEVICES)
    for number in (1, 2):
        deepen(valkey, deepened, DEVICES, number, number)

    assert stored(valkey, "deepened:") == stored(valkey, "enqueued:")
    assert all(books.balances for books in Inspector(valkey, deepened.rules, clock).audit())
