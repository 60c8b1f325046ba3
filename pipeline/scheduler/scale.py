"""How many workers a lane should have: arithmetic on two snapshots, for an autoscaler that asks `/api/scale`.

    work       = tasks waiting and in flight x what one costs, measured                      worker-ms
    pace       = worker-ms finished per ms and busy slot: 1 unless work is lost or repeated
    expected   = work / (slots x pace)                                                        ms
    wanted     = work / (target wait x pace), in workers

More are asked for at once. Fewer only after `down_after_ms` of wanting fewer, one per snapshot: whoever comes back
after a lull finds workers, and a worker costs its warm-up.
"""

import math
from dataclasses import dataclass
from typing import Self

from pipeline.settings import Settings

#: Memory of the pace, ms.
_PACE_MEMORY_MS = 60_000
#: Memory of the cost of a task, in tasks.
_COST_MEMORY = 20
#: A pace below this is a disturbance, not a reason for more than tenfold workers.
_PACE_MIN = 0.1


@dataclass(frozen=True, slots=True)
class ScaleRules:
    """What an operator wants; times in ms."""

    target_wait_ms: int = 60_000
    min_workers: int = 0
    max_workers: int = 100
    down_after_ms: int = 300_000
    interval_ms: int = 15_000

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            target_wait_ms=settings.scale_target_wait_seconds * 1000,
            min_workers=settings.scale_min_workers,
            max_workers=settings.scale_max_workers,
            down_after_ms=settings.scale_down_after_seconds * 1000,
            interval_ms=settings.watermark_publish_interval * 1000,
        )


@dataclass(frozen=True, slots=True)
class Load:
    """One lane at one instant.

    Args:
        leased: tasks in flight, of which a slot may hold several.
        slots: that its workers have.
        workers: that can do its work now.
        busy_workers: of these, running something.
        is_slack: it is known that slots were free now and at the last snapshot: what waits cannot be served by more.
    """

    now_ms: int
    waiting: int
    delayed: int
    leased: int
    busy_slots: int
    worked_ms: float
    finished: int
    guessed_cost_ms: float
    slots: int
    workers: int
    busy_workers: int
    is_slack: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What the last snapshot knew: the next one goes on from here, whichever scheduler makes it."""

    timestamp: int
    busy_slots: int
    worked_ms: float
    finished: int
    cost_ms: float
    pace: float
    desired_workers: int
    below_since_ms: int | None


@dataclass(frozen=True, slots=True)
class Scale:
    """What follows; `expected_wait_ms` is None while there is work and no slot."""

    cost_ms: float
    pace: float
    work_ms: float
    expected_wait_ms: int | None
    desired_workers: int
    below_since_ms: int | None


def scale(load: Load, memory: Memory | None, rules: ScaleRules) -> Scale:
    """Say how many workers the lane should have."""
    cost_ms, pace = _cost_ms(load, memory), _pace(load, memory)
    work_ms = (load.waiting + load.leased) * cost_ms
    rate = load.slots * pace
    wanted = _wanted(load, work_ms / (rules.target_wait_ms * pace), rules)
    desired, below_since_ms = _steadied(load, memory, wanted, rules)
    return Scale(
        cost_ms=cost_ms,
        pace=pace,
        work_ms=work_ms,
        expected_wait_ms=round(work_ms / rate) if rate else (None if work_ms else 0),
        # Whom an autoscaler takes away is not ours to say: while somebody works, nobody who does is too many.
        desired_workers=max(desired, _busy(load)),
        below_since_ms=below_since_ms,
    )


def _cost_ms(load: Load, memory: Memory | None) -> float:
    if memory is None:
        return load.guessed_cost_ms
    finished = load.finished - memory.finished
    # Less than before: the queue lost its data and counts anew.
    if finished <= 0 or load.worked_ms < memory.worked_ms:
        return memory.cost_ms
    sample = (load.worked_ms - memory.worked_ms) / finished
    return max(1.0, _towards(memory.cost_ms, sample, finished / _COST_MEMORY))


def _pace(load: Load, memory: Memory | None) -> float:
    if memory is None:
        return 1.0
    # Slots that were busy from one snapshot to the next, at least: workers that have just come have not yet finished
    # much, and that must not ask for yet more of them.
    elapsed_ms, busy = load.now_ms - memory.timestamp, min(load.busy_slots, memory.busy_slots)
    if elapsed_ms <= 0 or busy == 0 or load.finished <= memory.finished:
        return memory.pace
    sample = min(1.0, max(_PACE_MIN, (load.worked_ms - memory.worked_ms) / (elapsed_ms * busy)))
    return _towards(memory.pace, sample, elapsed_ms / _PACE_MEMORY_MS)


def _towards(known: float, sample: float, age: float) -> float:
    return known + (sample - known) * (1 - math.exp(-age))


def _slots_per_worker(load: Load) -> float:
    return max(1.0, load.slots / load.workers) if load.workers else 1.0


def _busy(load: Load) -> int:
    # What workers say of themselves may be a heartbeat old, what is in flight is of now.
    return max(load.busy_workers, min(load.workers, math.ceil(load.busy_slots / _slots_per_worker(load))))


def _wanted(load: Load, slots: float, rules: ScaleRules) -> int:
    wanted = math.ceil(slots / _slots_per_worker(load))
    if load.is_slack:
        wanted = min(wanted, load.workers)
    at_least = max(rules.min_workers, int(load.waiting + load.delayed + load.leased > 0))
    return min(max(wanted, at_least), rules.max_workers)


def _steadied(load: Load, memory: Memory | None, wanted: int, rules: ScaleRules) -> tuple[int, int | None]:
    # Who knows nothing of before begins with what is there, so that a restart takes nobody away.
    before = min(load.workers if memory is None else memory.desired_workers, rules.max_workers)
    if wanted >= before:
        return wanted, None
    since_ms = memory.below_since_ms if memory and memory.below_since_ms is not None else load.now_ms
    if load.now_ms - since_ms < rules.down_after_ms:
        return before, since_ms
    # The next step an interval later, however many schedulers there are.
    return before - 1, since_ms + rules.interval_ms
