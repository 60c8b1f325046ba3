"""What goes into the fair queue and what comes out: frozen values, no behaviour."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Lane = Literal["ocr", "text", "notify"]
#: Pools of like work, each with its own clock and slots.
LANES: tuple[Lane, ...] = ("ocr", "text", "notify")
#: Those of the tasks that clients submit and the ledger holds; `notify` carries the deliveries of their announcements.
TASK_LANES: tuple[Lane, ...] = ("ocr", "text")


class TaskState(StrEnum):
    """Where a task is; the last six are its ends."""

    QUEUED = "queued"
    DELAYED = "delayed"
    LEASED = "leased"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"
    EXPIRED = "expired"
    EVICTED = "evicted"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        return self in ENDS


ENDS = frozenset(
    {
        TaskState.DONE,
        TaskState.FAILED,
        TaskState.DEAD,
        TaskState.EXPIRED,
        TaskState.EVICTED,
        TaskState.CANCELLED,
    }
)


@dataclass(frozen=True, slots=True)
class Task:
    """One unit of work as it is put in line.

    Args:
        task_id: unique for ever; 1..64 characters of [0-9A-Za-z_-].
        mac: 12 lowercase hex digits.
        created_ms: when it was accepted, epoch ms by the clock of the queue (`admit` tells it); its place in the
            device's line and its TTL count from here.
        size_class: log2 of its size in bytes: tasks of one class cost about the same.
        payload: bytes the worker gets back with the claim; keys of stored things, never the things.
        boost_ms: how much earlier than its true time it stands in its device's line.
    """

    task_id: str
    lane: Lane
    mac: str
    created_ms: int
    payload: bytes = b"{}"
    site: str = "local"
    size_class: int = 0
    boost_ms: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """A task that the ledger holds, and where it stands there; what the queue needs to take it up again.

    Args:
        due_ms: it must not run earlier, epoch ms; 0 when it stands in line.
        attempts: counted so far.
        last_token: of the newest lease that wrote to the ledger; those to come must be greater.
    """

    task: Task
    due_ms: int = 0
    attempts: int = 0
    last_token: int = 0


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The answer to a submit.

    Args:
        state: of the task now; `queued` when it was put in line.
        position: in its device's line, from 1; None when it is not waiting.
        is_duplicate: the queue knew the task id already; nothing was enqueued.
        evicted: the task of the same device that made room (`drop_oldest`), if any.
    """

    state: TaskState
    position: int | None = None
    is_duplicate: bool = False
    evicted: str | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt that has begun.

    Args:
        attempt: its number, from 1.
        losses: workers and engines that the task has cost before.
        payload: what was given at the submit.
    """

    attempt: int
    losses: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """A leased task.

    Args:
        token: fencing token; every later call about this lease must carry it, and every write it leads to.
        lease_ends_ms: epoch ms on the server's clock.
        started: what `start` would tell, of a task that has begun with its claim.
    """

    task_id: str
    lane: Lane
    mac: str
    site: str
    token: int
    lease_ends_ms: int
    started: Started | None = None


@dataclass(frozen=True, slots=True)
class DeviceRules:
    """How one device is served; None for the usual.

    Args:
        weight: share against the other devices of its site, 0.001..1000; usually 1.
        max_inflight: tasks of one lane in flight, 1..1_000_000; usually no cap.
        rate_per_minute: tasks of one lane begun per minute, > 0..1_000_000; usually no limit. Up to a minute's worth
            may be begun at once after a pause.
        is_paused: its tasks of every lane wait until it is resumed.
        paused_lanes: its tasks of these lanes wait, also when it is not paused as a whole.
    """

    weight: float | None = None
    max_inflight: int | None = None
    rate_per_minute: float | None = None
    is_paused: bool = False
    paused_lanes: frozenset[Lane] = frozenset()


@dataclass(frozen=True, slots=True)
class Ended:
    """A task that the queue itself ended or took back: what the ledger must be told.

    Args:
        state: `queued` or `delayed` when it will run again, else its end.
        token: of the lease it had last, 0 when it never had one.
        code: why, in the words of `errors.py`.
        due_ms: when a delayed one may run again, epoch ms.
    """

    task_id: str
    state: TaskState
    token: int = 0
    code: str = ""
    due_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LaneStatus:
    """One lane at one instant.

    Args:
        leased: tasks in flight.
        busy_slots: slots that they keep busy; fewer, where a slot does several together.
    """

    lane: Lane
    waiting: int
    delayed: int
    leased: int
    busy_slots: int
    devices: int
    oldest_wait_ms: int


@dataclass(frozen=True, slots=True)
class LaneSurvey:
    """How one lane gets on.

    Args:
        worked_ms: worker-milliseconds of all tasks that were done or failed, since the queue began.
        finished: how many those were.
        cost_ms: what a task is estimated to cost, the mean of all sizes.
        ends_per_s: tasks that end, whatever the end, about of the last minute.
        starved: devices that could be served and have waited for too long; the longest waiting are looked at only.
    """

    lane: Lane
    worked_ms: float
    finished: int
    cost_ms: float
    ends_per_s: float
    starved: int


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that has not ended, as a walk over all of them finds it."""

    task_id: str
    state: TaskState
    token: int


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a walk over the open tasks has come.

    Args:
        expires_ms: of the last task seen; tasks are walked in the order in which they expire.
        seen: how many that expire in the same ms have been seen.
    """

    shard: int = 0
    expires_ms: int = 0
    seen: int = 0


@dataclass(frozen=True, slots=True)
class QueuedTask:
    """What the queue knows of one task; times in epoch ms, 0 when not yet."""

    task_id: str
    lane: Lane
    mac: str
    state: TaskState
    token: int
    attempts: int
    defers: int
    losses: int
    enqueued_ms: int
    due_ms: int
    position: int | None
    code: str


@dataclass(frozen=True, slots=True)
class LaneBooks:
    """The books of one lane: what was put in and where it is now, recounted from the data itself."""

    lane: Lane
    accepted: int
    waiting: int
    delayed: int
    leased: int
    ended: dict[TaskState, int]
    faults: tuple[str, ...]

    @property
    def balances(self) -> bool:
        return not self.faults and self.accepted == self.waiting + self.delayed + self.leased + sum(self.ended.values())


def size_class_of(size_bytes: int) -> int:
    """The class of tasks of about this size: the number of bits of its size in bytes."""
    return max(0, size_bytes).bit_length()
