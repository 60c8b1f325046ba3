"""Bring the queue and the ledger back together: the ledger says what was accepted, the queue is only its index."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from models.ledger import Ledger, TaskRow
from models.replays import enqueued_times
from models.sites import line_of
from pipeline.errors import DeviceBacklogFull, Overload, QueueUnavailable, TaskConflict, TaskEnded, TaskNotFound
from pipeline.queue import Ended, FairQueue, Inspector, Standing, Task, TaskState
from pipeline.queue.types import size_class_of
from pipeline.tracing import payload_of

#: Rows compared in one go.
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a comparison found and mended.

    Args:
        looked_at: tasks the ledger holds as not ended.
        enqueued: of these, unknown to the queue, or to it still as they ended before a replay, and put back in line.
        closed: of these, ended by the queue, which the ledger had not been told.
    """

    looked_at: int = 0
    enqueued: int = 0
    closed: int = 0

    def __add__(self, other: "Recovered") -> "Recovered":
        return Recovered(self.looked_at + other.looked_at, self.enqueued + other.enqueued, self.closed + other.closed)


def recover(
    queue: FairQueue,
    inspector: Inspector,
    ledger: Ledger,
    *,
    older_than_ms: int | None = None,
    shards: Collection[int] | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> Recovered:
    """Put every accepted task that the queue does not know back in line, and close what the queue has ended.

    Safe at any time and by several processes at once: enqueueing is idempotent and a finished row is never touched. A
    shard that does not answer keeps none of the others from it.

    Args:
        older_than_ms: leave tasks alone that were accepted later than this, epoch ms: their submit may be under way.
        shards: only the tasks of these.
        tell: called with how many have been looked at so far.
    Raises: QueueUnavailable, DatabaseUnavailable; what was done until then holds.
    """
    total, silent = Recovered(), dict[int, QueueUnavailable]()
    for page in _pages(ledger):
        ripe = [task for task in page if older_than_ms is None or task.created_ms < older_than_ms]
        for home, tasks in _by_home(queue, ripe).items():
            if home in silent or (shards is not None and home not in shards):
                continue
            try:
                total += _mend(queue, inspector, ledger, tasks, home)
            except QueueUnavailable as exc:
                silent[home] = exc
        tell(total.looked_at)
    for failure in silent.values():
        raise failure
    return total


def _pages(ledger: Ledger) -> Iterator[Sequence[TaskRow]]:
    after: str | None = None
    while page := ledger.open_tasks(after, _PAGE):
        yield page
        after = page[-1].task_id


def _by_home(queue: FairQueue, tasks: Sequence[TaskRow]) -> dict[int, list[TaskRow]]:
    found: dict[int, list[TaskRow]] = {}
    for task in tasks:
        found.setdefault(queue.home_number(line_of(task.site, task.mac)), []).append(task)
    return found


def _mend(queue: FairQueue, inspector: Inspector, ledger: Ledger, tasks: Sequence[TaskRow], home: int) -> Recovered:
    known = inspector.endings([task.task_id for task in tasks], home=home)
    missing = [task for task, ending in zip(tasks, known, strict=True) if ending is None]
    lease_ends_ms = inspector.now_ms() + queue.rules.lease_ms if missing else 0
    replayed = [task for task, ending in zip(tasks, known, strict=True) if ending and _was_replayed(task, ending)]
    begun_ms = enqueued_times([task.task_id for task in (*missing, *replayed) if task.token])
    queue.restore([_standing(task, begun_ms.get(task.task_id), lease_ends_ms) for task in missing])
    entered, closed = len(missing), 0
    for task, ending in zip(tasks, known, strict=True):
        if ending is None:
            continue
        state, code, _ = ending
        if _was_replayed(task, ending):
            entered += _put_in_line(queue, as_queued(task, begun_ms.get(task.task_id)))
        elif state.is_end and state is not TaskState.DONE:
            # A row that has been written since we looked may be that of a replay: the next comparison sees.
            closed += ledger.close(task.task_id, state.value, code, "ended by the queue", seen_token=task.token)
    return Recovered(len(tasks), entered, closed)


def _was_replayed(task: TaskRow, ending: tuple[TaskState, str, int]) -> bool:
    """The ledger is further: the task was replayed since that end, and did not get into its line."""
    state, _, token = ending
    return state in (TaskState.FAILED, TaskState.DEAD) and task.token > token


def _put_in_line(queue: FairQueue, task: Task) -> bool:
    """Replay a task; False when another process was first, or while there is no room, for the next comparison."""
    try:
        queue.replay(task)
    except (TaskConflict, Overload):
        return False
    return True


def tell_ledger(queue: FairQueue, ledger: Ledger, ended: Ended, reason: str) -> None:
    """Let the ledger end what the queue has ended; had it ended otherwise there, the queue follows."""
    # A task that is dead had a lease; whatever wrote later than that is a replay, which is not ours to end.
    seen_token = ended.token if ended.state is TaskState.DEAD else None
    if not ledger.close(ended.task_id, ended.state.value, ended.code, reason, seen_token=seen_token):
        follow_ledger(queue, ledger, ended.task_id, ended.token)


def close_evicted(queue: FairQueue, ledger: Ledger, task_id: str, reason: str) -> None:
    """Let the ledger end a task that made room for another one; had it ended before, the queue follows."""
    if not ledger.close(task_id, TaskState.EVICTED, DeviceBacklogFull.code, reason):
        follow_ledger(queue, ledger, task_id, None)


def cancel(queue: FairQueue, ledger: Ledger, task_id: str, reason: str) -> bool:
    """Cancel a task wherever it is; False when it has ended.

    The ledger decides, so that a task that is being finished just now ends one way in both books; whoever claims a
    cancelled one that the queue could not be told of finds it ended.
    """
    if not ledger.close(task_id, TaskState.CANCELLED, "cancelled", reason):
        return False
    with suppress(TaskNotFound, TaskEnded, QueueUnavailable):
        queue.cancel(task_id)
    return True


def follow_ledger(queue: FairQueue, ledger: Ledger, task_id: str, token: int | None) -> None:
    """Let a task end in the queue as it has ended in the ledger, where a worker writes first before it may die.

    Args:
        token: as in `FairQueue.amend`.
    """
    row = ledger.get(task_id)
    if row and row.has_ended:
        queue.amend(task_id, token, ending=TaskState(row.state), code=row.code)


def _standing(task: TaskRow, begun_ms: int | None, lease_ends_ms: int) -> Standing:
    """Where the ledger has the task.

    A worker may be at one that runs, though its lease is lost: it has as long to finish as the lease would have had.
    """
    return Standing(
        as_queued(task, begun_ms),
        due_ms=lease_ends_ms if task.state == "running" else task.due_ms or 0,
        attempts=task.attempts,
        last_token=task.token,
    )


def as_queued(task: TaskRow, begun_ms: int | None = None) -> Task:
    """The task as it stands in line.

    Args:
        begun_ms: when it was put in line, epoch ms, if that was later than its acceptance: when it was replayed.
    """
    created_ms = max(task.created_ms, begun_ms or 0)
    return Task(
        task_id=task.task_id,
        lane="ocr" if task.lane == "ocr" else "text",
        mac=line_of(task.site, task.mac),
        created_ms=created_ms,
        payload=payload_of(task.traceparent, created_ms),
        site=task.site,
        size_class=size_class_of(task.size_bytes),
    )
