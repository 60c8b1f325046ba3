"""The fair queue: one method per script that changes state.

Every method that takes a `token` raises `LeaseLost`, and changes nothing, when the lease is no longer the caller's.
Every method raises `QueueUnavailable` when the server does not answer in time. No policy lives here: order, gates and
accounts are in the scripts (`lua/`), explained in docs/why/fairness.md.
"""

import redis

from pipeline.clock import Clock
from pipeline.errors import DeviceBacklogFull, LeaseLost, QueueFull, TaskEnded, TaskNotFound
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.scripts import Reply, Scripts
from pipeline.queue.types import Claim, Ended, Enqueued, Lane, Task, TaskState


class FairQueue:
    """Lines of tasks, one per device and lane, served fairly.

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

    # Submitting.

    def admit(self, mac: str, lane: Lane) -> None:
        """Return when the device may submit one more task now; nothing is reserved.

        Raises: QueueFull, DeviceBacklogFull, with retry_after_ms.
        """
        rules = self.rules
        self._refuse_when_full(
            self._call(
                "admit",
                lane,
                mac,
                rules.max_total,
                rules.max_per_mac,
                rules.overload_scope,
                rules.overload_policy,
                rules.retry_after_s,
            )
        )

    def enqueue(self, task: Task, *, is_accepted: bool = False) -> Enqueued:
        """Put the task in line once, however often it is called with the same task id.

        Args:
            is_accepted: the ledger holds the task already, so limits do not apply (recovery).
        Raises: QueueFull, DeviceBacklogFull, with retry_after_ms; nothing was enqueued.
        """
        rules = self.rules
        reply = self._call(
            "enqueue",
            task.lane,
            task.mac,
            rules.max_total,
            rules.max_per_mac,
            rules.overload_scope,
            rules.overload_policy,
            rules.retry_after_s,
            rules.policy,
            task.task_id,
            task.site,
            task.size_class,
            task.created_ms,
            task.boost_ms,
            rules.ttl_ms,
            rules.dedupe_ms,
            task.payload,
            int(is_accepted),
        )
        self._refuse_when_full(reply)
        if reply.word == "duplicate":
            return Enqueued(TaskState(reply.text(0)), is_duplicate=True)
        return Enqueued(TaskState.QUEUED, evicted=reply.text(0) or None)

    # Working.

    def claim(self, lane: Lane) -> Claim | None:
        """Lease the next task of the device whose turn it is; no two callers get the same one.

        Returns: the claim, or None when nothing can be served now.
        """
        rules = self.rules
        reply = self._call(
            "claim",
            lane,
            rules.lease_ms,
            rules.policy,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
        )
        if reply.word == "empty":
            return None
        return Claim(
            task_id=reply.text(0),
            lane=lane,
            mac=reply.text(1),
            token=reply.number(2),
            payload=reply.values[3],
            attempts=reply.number(4),
            enqueued_ms=reply.number(5),
            lease_ends_ms=reply.number(6),
        )

    def start(self, task_id: str, token: int) -> int:
        """Begin to run a claimed task; return the number of this attempt, from 1."""
        return self._held("start", task_id, token).number(0)

    def renew(self, task_id: str, token: int) -> int:
        """Hold the lease for another `lease_ms`; return its new end, epoch ms.

        Raises: LeaseLost, also when the task has been held for longer than `max_run_ms`.
        """
        rules = self.rules
        reply = self._held("renew", task_id, token, rules.lease_ms, rules.max_run_ms, rules.policy)
        if reply.word == "overrun":
            raise LeaseLost(f"task {task_id} has been held for {reply.number(0)} ms, the longest run allowed")
        return reply.number(0)

    def complete(self, task_id: str, token: int, *, cost_ms: int) -> None:
        """End the task well and charge its device `cost_ms` worker-milliseconds."""
        rules = self.rules
        self._held("complete", task_id, token, cost_ms, rules.policy, rules.dedupe_ms, rules.max_per_mac)

    def retry(self, task_id: str, token: int, *, cost_ms: int, delay_ms: int) -> int:
        """Put the task back after a failed attempt; return when it is due, epoch ms."""
        return self._held("retry", task_id, token, cost_ms, self.rules.policy, delay_ms).number(0)

    def defer(self, task_id: str, token: int, *, code: str) -> Ended:
        """Put the task back without an attempt and its device's lane into backoff; dead after too many defers.

        Returns: where it is now: delayed or dead.
        """
        rules = self.rules
        reply = self._held(
            "defer",
            task_id,
            token,
            rules.policy,
            rules.defer_base_ms,
            rules.defer_max_ms,
            rules.max_defers,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
            code,
        )
        return Ended(task_id, TaskState(reply.word), token, code)

    def hand_back(self, task_id: str, token: int, *, cost_ms: int = 0) -> None:
        """Return the task to the head of its line as if it had not been claimed."""
        self._held("hand_back", task_id, token, cost_ms, self.rules.policy)

    def bury(self, task_id: str, token: int, *, ending: TaskState, code: str, message: str, cost_ms: int) -> None:
        """End the task badly and keep its full record among the dead letters.

        Args:
            ending: failed (the input will never do) or dead (nothing left to try).
        """
        rules = self.rules
        self._held(
            "bury",
            task_id,
            token,
            cost_ms,
            rules.policy,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
            ending.value,
            code,
            message,
        )

    def cancel(self, task_id: str) -> None:
        """End a task that has not ended, wherever it is.

        Raises: TaskNotFound, TaskEnded.
        """
        rules = self.rules
        reply = self._call("cancel", task_id, rules.policy, rules.dedupe_ms, rules.max_per_mac)
        if reply.word == "unknown":
            raise TaskNotFound(f"no task {task_id} in the queue")
        if reply.word == "ended":
            raise TaskEnded(f"task {task_id} has ended: {reply.text(0)}", state=reply.text(0))

    # Keeping house: what the scheduler calls, again and again.

    def reap(self, lane: Lane, *, limit: int = 100) -> list[Ended]:
        """Take back the tasks whose lease ran out: queued again at the head, or dead (`worker_crash`)."""
        rules = self.rules
        reply = self._call(
            "reap",
            lane,
            limit,
            rules.policy,
            rules.max_deliveries,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
        )
        return [
            Ended(task_id, TaskState(state), int(token), "worker_crash") for task_id, state, token in _rows(reply, 3)
        ]

    def expire(self, *, limit: int = 100) -> list[Ended]:
        """End the tasks that have waited longer than their TTL."""
        rules = self.rules
        reply = self._call("expire", limit, rules.policy, rules.dedupe_ms, rules.max_per_mac, rules.lease_ms)
        return [Ended(task_id, TaskState.EXPIRED, int(token), "expired") for task_id, token in _rows(reply, 2)]

    def promote(self, *, limit: int = 100) -> list[str]:
        """Put delayed tasks that are due back in line; return their ids."""
        return [row[0] for row in _rows(self._call("promote", limit, self.rules.policy), 1)]

    def resume(self, *, limit: int = 100) -> list[str]:
        """Let devices whose backoff has ended be served again; return their MACs."""
        return [row[0] for row in _rows(self._call("resume", limit, self.rules.policy), 1)]

    # Waiting.

    def wait_for_work(self, lane: Lane, *, timeout_s: float) -> None:
        """Return when something may have come in for the lane, at the latest after `timeout_s` seconds.

        NOTE: the client given must wait longer for a reply than `timeout_s`.
        """
        with reaching("wait for work"):
            self._client.blpop([self.keys.wake(lane)], timeout=timeout_s)

    def _call(self, name: str, *args: str | int | bytes) -> Reply:
        return self._scripts.call(name, self.keys.epoch(), self._now(), *args)

    def _now(self) -> str | int:
        return "" if self._clock is None else self._clock.now_ms()

    def _held(self, name: str, task_id: str, token: int, *args: str | int) -> Reply:
        reply = self._call(name, task_id, token, *args)
        if reply.word == "lost":
            raise LeaseLost(
                f"{name}: the lease {token} of task {task_id} is over; it is {reply.text(0) or 'unknown'} now"
            )
        return reply

    def _refuse_when_full(self, reply: Reply) -> None:
        if reply.word == "full":
            raise QueueFull("the queue is full", retry_after_ms=reply.number(0) * 1000)
        if reply.word == "device_full":
            raise DeviceBacklogFull("this device has too many tasks pending", retry_after_ms=reply.number(0) * 1000)


def _rows(reply: Reply, width: int) -> list[list[str]]:
    flat = [value.decode() for value in reply.values]
    return [flat[i : i + width] for i in range(0, len(flat), width)]
