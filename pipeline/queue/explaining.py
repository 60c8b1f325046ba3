"""Why a task waits, and until when: from what `explain.lua` reads in O(log n)."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.queue.scripts import Reply
from pipeline.queue.types import TaskState


class Reason(StrEnum):
    """What keeps a task where it is."""

    RUNNABLE = "runnable"
    BEHIND_OWN = "behind_own_tasks"
    BEHIND_OTHERS = "behind_other_devices"
    PAUSED = "paused"
    CAPPED = "capped"
    RATE_LIMITED = "rate_limited"
    DEFERRED = "deferred"
    NO_CAPABLE_WORKER = "no_capable_worker"
    DELAYED = "delayed"
    IN_FLIGHT = "in_flight"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a task is where it is.

    Args:
        until_ms: when the gate opens by itself, or the task is due, epoch ms; None when that is not known.
        ahead_in_line: tasks of its own device that stand before it.
        devices_ahead: devices of its site whose turn comes first.
        sites_ahead: sites whose turn comes first.
        wait_ms: estimated wait from now until it starts; None when nobody can say (paused, no worker, unknown cost).
    """

    state: TaskState
    reason: Reason
    until_ms: int | None = None
    ahead_in_line: int = 0
    devices_ahead: int = 0
    sites_ahead: int = 0
    wait_ms: int | None = None


_GATES = {
    "paused": Reason.PAUSED,
    "capped": Reason.CAPPED,
    "deferred": Reason.DEFERRED,
    "rate": Reason.RATE_LIMITED,
}


@dataclass(frozen=True, slots=True)
class _Place:
    """What the script says of a waiting task."""

    lane: str
    gate: str
    opens_ms: int
    ahead_in_line: int
    devices_ahead: int
    sites_ahead: int
    cost_ms: float
    share: float
    cap: float
    rate_per_minute: float
    lane_waiting: int


def explanation_of(reply: Reply, *, slots: dict[str, int], now_ms: int) -> Explanation | None:
    """Turn the script's answer into words and a wait; None for a task the queue does not know.

    Args:
        slots: by lane, tasks that can really run at once: the effective concurrency of all live workers.
    """
    if reply.word == "unknown":
        return None
    if reply.word == "known":
        return _of_known(TaskState(reply.text(0)), int(float(reply.text(1))))
    whole = [reply.text(index) for index in range(2, len(reply.values))]
    place = _Place(
        lane=reply.text(0),
        gate=reply.text(1),
        opens_ms=int(whole[0]),
        ahead_in_line=int(whole[1]),
        devices_ahead=int(whole[2]),
        sites_ahead=int(whole[3]),
        cost_ms=float(whole[4]),
        share=float(whole[5]),
        cap=float(whole[6]),
        rate_per_minute=float(whole[7]),
        lane_waiting=int(whole[8]),
    )
    return _of_waiting(place, slots.get(place.lane, 0), now_ms)


def _of_known(state: TaskState, due_ms: int) -> Explanation:
    if state is TaskState.DELAYED:
        return Explanation(state, Reason.DELAYED, until_ms=due_ms)
    return Explanation(state, Reason.ENDED if state.is_end else Reason.IN_FLIGHT)


def _of_waiting(place: _Place, slots: int, now_ms: int) -> Explanation:
    return Explanation(
        state=TaskState.QUEUED,
        reason=_reason(place, slots),
        until_ms=place.opens_ms or None,
        ahead_in_line=place.ahead_in_line,
        devices_ahead=place.devices_ahead,
        sites_ahead=place.sites_ahead,
        wait_ms=_wait_ms(place, slots, now_ms),
    )


def _reason(place: _Place, slots: int) -> Reason:
    if place.gate in _GATES:
        return _GATES[place.gate]
    if slots == 0:
        return Reason.NO_CAPABLE_WORKER
    if place.ahead_in_line:
        return Reason.BEHIND_OWN
    if place.devices_ahead or place.sites_ahead:
        return Reason.BEHIND_OTHERS
    return Reason.RUNNABLE


def _wait_ms(place: _Place, slots: int, now_ms: int) -> int | None:
    if slots == 0 or place.gate == "paused":
        return None
    # Its own tasks are worked off at its device's share of all slots, or at its cap when that is less, never faster
    # than its rate limit; and the whole lane's backlog is worked off in any case after a while.
    own_slots = max(slots * place.share, 1e-9)
    own_slots = min(own_slots, place.cap) if place.cap else own_slots
    by_share = place.ahead_in_line * place.cost_ms / own_slots
    by_turn = (place.devices_ahead + place.sites_ahead) * place.cost_ms / slots
    by_rate = place.ahead_in_line * 60_000 / place.rate_per_minute if place.rate_per_minute else 0.0
    by_backlog = place.lane_waiting * place.cost_ms / slots
    until_open = max(0, place.opens_ms - now_ms)
    return int(until_open + max(by_rate, min(max(by_share, by_turn), by_backlog)))
