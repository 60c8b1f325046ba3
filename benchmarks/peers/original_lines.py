"""The lines of the replaced design, faults and all, as `docs/why/original.md` tells it: each step a call of its own.

A list for each device, pushed and popped at the same end; a score, min(age of its oldest task, 600 s), stored whenever
the device is touched; a lock of 900 s without an owner; counts kept by INCR and DECR; one device over its limit closes
the door for all. Left out is what the way of a text does not touch: the sweep of expired tasks, the dead letters.
"""

import json
from dataclasses import dataclass

from redis import Redis

from pipeline.clock import SystemClock
from pipeline.errors import QueueFull
from pipeline.settings import Settings

_PENDING, _META, _ACTIVE = "sensitive:pending:", "sensitive:meta:", "sensitive:active:"
_SCHEDULE, _TOTAL, _OVERLOADED = "sensitive:schedule", "sensitive:global_pending", "sensitive:overloaded"
_ACTIVE_TTL_S = 900


@dataclass(frozen=True, slots=True)
class Lines:
    """All devices' lines."""

    redis: Redis
    settings: Settings
    clock: SystemClock

    def enqueue(self, mac: str, task: dict[str, object]) -> None:
        """Push a task, and touch the device.

        Raises: QueueFull.
        """
        if self.redis.scard(_OVERLOADED):
            raise self._closed("a device is overloaded")
        if int(self.redis.get(_TOTAL) or 0) >= self.settings.max_total_pending:
            raise self._closed("too many tasks wait")
        body = json.dumps({**task, "mac": mac, "enqueued_ms": self.clock.now_ms(), "defers": 0})
        waiting = self.redis.rpush(_PENDING + mac, body)
        self.redis.incr(_TOTAL)
        if waiting > self.settings.max_per_mac_pending:
            self.redis.sadd(_OVERLOADED, mac)
        self._touch(mac)

    def claim(self) -> str | None:
        """Take the device of the highest score that is neither backed off nor locked; it leaves the schedule."""
        for name in self.redis.zrevrange(_SCHEDULE, 0, -1):
            mac = name.decode()
            if float(self.redis.hget(_META + mac, "unschedulable_until") or 0) > self.clock.now_ms():
                continue
            if self.redis.set(_ACTIVE + mac, "1", nx=True, ex=_ACTIVE_TTL_S):
                self.redis.zrem(_SCHEDULE, mac)
                return mac
        return None

    def batch_size(self) -> int:
        """One while some device starves, else the usual batch; every device is looked at when none does."""
        hint_s = self.settings.mac_starvation_hint_seconds
        for _, score in self.redis.zrevrange(_SCHEDULE, 0, -1, withscores=True):
            if score >= hint_s:
                return 1
        return self.settings.mac_scheduler_batch_size

    def pop(self, mac: str) -> dict[str, object] | None:
        """Take the device's youngest task that has not expired."""
        while body := self.redis.rpop(_PENDING + mac):
            self.redis.decr(_TOTAL)
            if self.redis.llen(_PENDING + mac) <= self.settings.max_per_mac_pending:
                self.redis.srem(_OVERLOADED, mac)
            self._touch(mac)
            task: dict[str, object] = json.loads(body)
            age_ms = self.clock.now_ms() - int(str(task["enqueued_ms"]))
            if age_ms <= self.settings.mac_task_ttl_seconds * 1000:
                return task
        return None

    def defer(self, mac: str, task: dict[str, object]) -> None:
        """Push a task back, and keep its device out of the schedule for a while that doubles."""
        defers = int(str(task["defers"])) + 1
        backoff_s = min(self.settings.mac_defer_backoff_base * 2 ** (defers - 1), self.settings.mac_defer_backoff_max)
        self.redis.rpush(_PENDING + mac, json.dumps({**task, "defers": defers}))
        self.redis.incr(_TOTAL)
        self._touch(mac)
        self.redis.hset(_META + mac, "unschedulable_until", self.clock.now_ms() + backoff_s * 1000)

    def finish(self, mac: str) -> None:
        """Unlock the device, and touch it."""
        self.redis.delete(_ACTIVE + mac)
        self._touch(mac)

    def _closed(self, why: str) -> QueueFull:
        return QueueFull(why, retry_after_ms=self.settings.retry_after * 1000)

    def _touch(self, mac: str) -> None:
        waiting = self.redis.llen(_PENDING + mac)
        if not waiting:
            self.redis.delete(_META + mac)
            self.redis.zrem(_SCHEDULE, mac)
            return
        oldest = json.loads(self.redis.lindex(_PENDING + mac, 0) or b'{"enqueued_ms": 0}')
        waited_s = (self.clock.now_ms() - oldest["enqueued_ms"]) / 1000
        score = min(waited_s, self.settings.mac_aging_max_wait_seconds) * self.settings.mac_aging_weight
        self.redis.hset(_META + mac, mapping={"pending_count": waiting, "first_enqueued_ms": oldest["enqueued_ms"]})
        self.redis.zadd(_SCHEDULE, {mac: score})
