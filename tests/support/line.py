"""A fair queue on a fake clock, with the few moves that tests make again and again."""

from collections.abc import Callable
from itertools import count as counted
from itertools import islice
from typing import Any

import redis

from pipeline.queue import Claim, FairQueue, Inspector, Lane, Rules, Task, TaskState
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.queue.shards import home_of
from tests.support.clock import FakeClock

#: Device addresses that tests call by name.
RED, BLUE, GREEN = "aa0000000001", "bb0000000002", "cc0000000003"

#: What a worker does with a task that it has claimed.
Move = Callable[[FairQueue, str, int], object]
#: By which a claimed task leaves its worker, back into line or to its end.
LEAVING: dict[str, Move] = {
    "complete": lambda queue, task_id, token: queue.complete(task_id, token, cost_ms=1),
    "retry": lambda queue, task_id, token: queue.retry(task_id, token, cost_ms=1, delay_ms=1),
    "defer": lambda queue, task_id, token: queue.defer(task_id, token, code="no_capable_worker"),
    "hand_back": lambda queue, task_id, token: queue.hand_back(task_id, token),
    "bury": lambda queue, task_id, token: queue.bury(
        task_id, token, ending=TaskState.FAILED, code="bad_image", message="", cost_ms=1
    ),
}


class Line:
    """A queue, its inspector and its clock."""

    def __init__(self, client: redis.Redis, clock: FakeClock, rules: Rules | None = None) -> None:
        self.client = client
        self.clock = clock
        self.rules = rules or Rules()
        self.queue = FairQueue(client, self.rules, clock)
        self.inspector = Inspector(client, self.rules, clock)
        self._count = 0

    def submit(self, mac: str, count: int = 1, lane: Lane = "ocr", **fields: Any) -> list[str]:
        """Put `count` new tasks of a device in line; return their ids in order."""
        ids = []
        for _ in range(count):
            self._count += 1
            ids.append(f"{mac[:2]}-{self._count}")
            self.queue.enqueue(Task(ids[-1], lane, mac, self.clock.now_ms(), **fields))
        return ids

    def claim(self, lane: Lane = "ocr") -> Claim:
        claims = self.queue.claim(lane)
        assert claims, "nothing could be claimed"
        return claims[0]

    def drain(self, count: int, lane: Lane = "ocr", cost_ms: int = 1000) -> list[str]:
        """Serve `count` tasks, one after the other, each taking `cost_ms`; return their ids in the order served."""
        served = []
        for _ in range(count):
            claim = self.claim(lane)
            self.clock.advance(cost_ms)
            self.queue.complete(claim.task_id, claim.token, cost_ms=cost_ms)
            served.append(claim.task_id)
        return served

    def assert_books_balance(self) -> None:
        for books in self.inspector.audit():
            assert books.balances, books

    def snapshot(self) -> dict[bytes, Any]:
        """Everything in the server, for comparing before and after."""
        return {key: self.client.dump(key) for key in sorted(self.client.keys("*"))}


class ShardedLine(Line):
    """The same over shards."""

    def __init__(self, client: redis.Redis, clock: FakeClock, count: int, rules: Rules | None = None) -> None:
        super().__init__(client, clock, rules)
        self.queue: ShardedQueue = ShardedQueue(client, self.rules, count, clock)
        self.inspector: ShardedInspector = ShardedInspector(client, self.rules, count, clock)

    def mac_in(self, shard: int, number: int = 0) -> str:
        """The address of a device that lives in a shard; different numbers, different devices."""
        macs = (f"{n:012x}" for n in counted(1))
        return next(islice((mac for mac in macs if home_of(mac, len(self.queue.shards)) == shard), number, None))
