"""Calling the scripts: the time, the keys and the refusals that all calls of one queue share."""

from collections.abc import Sequence

import redis

from pipeline.clock import Clock
from pipeline.errors import DeviceBacklogFull, LeaseLost, QueueFull, WouldExpire
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.scripts import Reply, Scripts


class Calls:
    """What a queue's methods are made of.

    Args:
        client: a connection; used from any thread.
        clock: None lets the server tell the time, as in production; tests give their own.
    """

    def __init__(self, client: redis.Redis, rules: Rules, clock: Clock | None = None) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._clock = clock
        self.rules = rules
        self.keys = Keys(rules.prefix)

    def _call(self, name: str, *args: str | int | bytes) -> Reply:
        return self._scripts.call(name, self.keys.epoch(), self._now(), *args)

    def _call_many(self, name: str, rows: Sequence[Sequence[str | int | bytes]]) -> list[Reply]:
        now = self._now()
        return self._scripts.call_many(name, self.keys.epoch(), [(now, *row) for row in rows])

    def _now(self) -> str | int:
        return "" if self._clock is None else self._clock.now_ms()

    def _held(self, name: str, task_id: str, token: int, *args: str | int) -> Reply:
        reply = self._call(name, task_id, token, *args)
        if reply.word == "lost":
            raise lost_lease(name, task_id, token, reply.text(0) or "unknown")
        return reply

    def _refuse_when_full(self, reply: Reply) -> None:
        if reply.word == "full":
            raise QueueFull("the queue is full", retry_after_ms=reply.number(0) * 1000)
        if reply.word == "device_full":
            raise DeviceBacklogFull("this device has too many tasks pending", retry_after_ms=reply.number(0) * 1000)
        if reply.word == "too_late":
            raise WouldExpire("this task would expire before its turn", retry_after_ms=reply.number(0) * 1000)


def lost_lease(name: str, task_id: str, token: int, state: str) -> LeaseLost:
    """The refusal of a call whose lease is over."""
    return LeaseLost(f"{name}: the lease {token} of task {task_id} is over; it is {state} now")
