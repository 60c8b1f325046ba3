"""Putting tasks in line: the limits, the way in and the way back in."""

from collections.abc import Sequence

from pipeline.errors import TaskConflict
from pipeline.queue.calls import Calls
from pipeline.queue.scripts import Reply
from pipeline.queue.types import Enqueued, Lane, Task, TaskState


class Submitting(Calls):
    """The part of `FairQueue` that submits."""

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
                self._max_total(),
                rules.max_per_mac,
                rules.overload_scope,
                rules.overload_policy,
                rules.retry_after_s,
                rules.late_ms,
            )
        )

    def enqueue(self, task: Task, *, is_accepted: bool = False) -> Enqueued:
        """Put the task in line once, however often it is called with the same task id.

        Args:
            is_accepted: the ledger holds the task already, so limits do not apply (recovery).
        Raises: QueueFull, DeviceBacklogFull, with retry_after_ms; nothing was enqueued.
        """
        return _entered(self._enter("enqueue", task, is_accepted=is_accepted))

    def enqueue_many(self, tasks: Sequence[Task]) -> list[Enqueued]:
        """Put tasks that the ledger has accepted in line, in two round trips; limits do not apply.

        Raises: QueueUnavailable; any part of them may be in line then, and calling again is safe.
        """
        rows = [self._entry(task, is_accepted=True) for task in tasks]
        return [_entered(reply) for reply in self._call_many("enqueue", rows)]

    def replay(self, task: Task) -> Enqueued:
        """Put a failed or dead task in line again, as a new one of its device: attempts, defers and losses begin anew.

        Args:
            task: as the ledger knows it; the queue may have forgotten it.
        Raises: TaskConflict when it is waiting, running or ended otherwise; QueueFull, DeviceBacklogFull.
        """
        reply = self._enter("replay", task, is_accepted=False)
        if reply.word == "refused":
            raise TaskConflict(f"task {task.task_id} is {reply.text(0)}: only what failed or is dead can be replayed")
        return Enqueued(TaskState.QUEUED, evicted=reply.text(0) or None)

    def _enter(self, name: str, task: Task, *, is_accepted: bool) -> Reply:
        reply = self._call(name, *self._entry(task, is_accepted=is_accepted))
        self._refuse_when_full(reply)
        return reply

    def _entry(self, task: Task, *, is_accepted: bool) -> tuple[str | int | bytes, ...]:
        rules = self.rules
        return (
            task.lane,
            task.mac,
            rules.max_total if is_accepted else self._max_total(),
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
            rules.late_ms,
        )

    def _max_total(self) -> int:
        """How many tasks may be pending here, all devices."""
        return self.rules.max_total


def _entered(reply: Reply) -> Enqueued:
    if reply.word == "duplicate":
        return Enqueued(TaskState(reply.text(0)), is_duplicate=True)
    return Enqueued(TaskState.QUEUED, evicted=reply.text(0) or None)
