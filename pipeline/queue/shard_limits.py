"""The limit of all tasks, over shards.

What a shard may hold is the limit less what the others hold: that is read before the script, and what the shard holds
itself is checked inside it. So the limit can be passed by as many tasks as are being submitted to other shards at the
same moment, no more. Dividing the limit instead would hold it exactly, but refuse devices whose shard is full while the
queue is not.
"""

from collections.abc import Sequence
from typing import Any

import redis

from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable
from pipeline.queue.connection import LateCluster, reaching
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.shard_turns import rested_ms


class SharedLimit:
    """Says how many tasks one shard may hold now.

    While some shard does not answer, the others go on within their part of the limit, and are not made to wait for it.

    Args:
        shards: the rules of each; the limits are those of the whole queue.
    """

    def __init__(self, client: redis.Redis, shards: Sequence[Rules]) -> None:
        self._client = client
        self._rules = shards[0]
        self._keys = [Keys(rules.prefix) for rules in shards]
        self._monotonic = SystemClock()
        self._blind_until_ms = 0

    def room_in(self, number: int) -> int:
        """Tasks that shard `number` may hold, all devices; 0 when another shard closes the door for all."""
        others = [keys for other, keys in enumerate(self._keys) if other != number]
        if not others:
            return self._rules.max_total
        asked_ms = self._monotonic.monotonic_ms()
        if asked_ms < self._blind_until_ms:
            return self._own_part()
        try:
            held, overloaded = self._look_at(others)
        except QueueUnavailable:
            self._blind_until_ms = rested_ms(asked_ms, self._monotonic.monotonic_ms())
            return self._own_part()
        if self._rules.overload_scope == "all" and overloaded:
            return 0
        return max(0, self._rules.max_total - held)

    def _own_part(self) -> int:
        return self._rules.max_total // len(self._keys)

    def _look_at(self, others: Sequence[Keys]) -> tuple[int, int]:
        """Tasks pending in the others, and their overloaded devices, which are counted only when that matters."""
        with reaching("limits"):
            held = sum(int(number or 0) for number in self._ask("GET", [keys.global_pending() for keys in others]))
            if self._rules.overload_scope == "device":
                return held, 0
            return held, sum(self._ask("SCARD", [keys.overloaded() for keys in others]))

    def _ask(self, command: str, keys: Sequence[str]) -> list[Any]:
        if isinstance(self._client, LateCluster):
            # PERF: not with a pipeline: on a Cluster of which a node hung it took 7.7 s to give up, one by one 1.4 s.
            return [self._client.execute_command(command, key) for key in keys]  # type: ignore[no-untyped-call]
        with self._client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.execute_command(command, key)  # type: ignore[no-untyped-call]
            return list(pipe.execute())
