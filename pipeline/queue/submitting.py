"""Putting tasks in line: the limits, the way in and the way back in."""

from collections.abc import Sequence

from pipeline.errors import TaskConflict
from pipeline.queue.calls import Calls
from pipeline.queue.scripts import Reply
from pipeline.queue.types import TASK_LANES, Enqueued, Lane, Standing, Task, TaskState


class Submitting(Calls):
    """The part of `FairQueue` that submits."""

    def admit(self, mac: str, lane: Lane) -> int:
        """Return when the device may submit one more task now; nothing is reserved.

        Returns: the time by the clock of the queue, epoch ms: acceptances are ordered by it whatever host they are on.
        Raises: QueueFull, DeviceBacklogFull, with retry_after_ms.
        """
        rules = self.rules
        reply = self._call(
            "admit",
            lane,
            mac,
            self._max_total(),
            rules.max_per_mac,
            rules.overload_scope,
            rules.overload_policy,
            rules.retry_after_s,
            rules.late_ms,
            " ".join(TASK_LANES),
        )
        self._refuse_when_full(reply)
        return reply.number(0)

    def enqueue(self, task: Task) -> Enqueued:
        """Put the task in line once, however often it is called with the same task id.

        Raises: QueueFull, DeviceBacklogFull, with retry_after_ms; nothing was enqueued.
        """
        reply = self._enter("enqueue", task)
        if reply.word == "duplicate":
            return Enqueued(TaskState(reply.text(0)), reply.number(1) or None, is_duplicate=True)
        return _queued(reply)

    def restore(self, standings: Sequence[Standing]) -> list[TaskState]:
        """Put tasks that the ledger holds where they stood, in two round trips; limits do not apply.

        Returns: where each is now; one that the queue still knows stays as it is.
        Raises: QueueUnavailable; any part of them may be back then, and calling again is safe.
        """
        rules = self.rules
        rows = [
            (
                standing.task.lane,
                standing.task.mac,
                rules.max_per_mac,
                rules.policy,
                standing.task.task_id,
                standing.task.site,
                standing.task.size_class,
                standing.task.created_ms,
                standing.task.boost_ms,
                rules.ttl_ms,
                standing.task.payload,
                standing.due_ms,
                standing.attempts,
                standing.last_token,
            )
            for standing in standings
        ]
        replies = self._call_many("restore", rows)
        return [TaskState(reply.text(0) if reply.word == "duplicate" else reply.word) for reply in replies]

    def replay(self, task: Task) -> Enqueued:
        """Put a failed or dead task in line again, as a new one of its device: attempts, defers and losses begin anew.

        Args:
            task: as the ledger knows it; the queue may have forgotten it.
        Raises: TaskConflict when it is waiting, running or ended otherwise; QueueFull, DeviceBacklogFull.
        """
        reply = self._enter("replay", task)
        if reply.word == "refused":
            raise TaskConflict(f"task {task.task_id} is {reply.text(0)}: only what failed or is dead can be replayed")
        return _queued(reply)

    def _enter(self, name: str, task: Task) -> Reply:
        rules = self.rules
        reply = self._call(
            name,
            task.lane,
            task.mac,
            self._max_total(),
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
            rules.late_ms,
            " ".join(TASK_LANES),
        )
        self._refuse_when_full(reply)
        return reply

    def _max_total(self) -> int:
        """How many tasks may be pending here, all devices."""
        return self.rules.max_total


def _queued(reply: Reply) -> Enqueued:
    return Enqueued(TaskState.QUEUED, reply.number(1), evicted=reply.text(0) or None)
