"""A fair queue in several shards, which looks like one.

Each device lives in one shard, so everything that holds for one device (FIFO, gates, limits, tokens) holds as in a
queue without shards. What spans devices is put together here: whose turn it is (`shard_turns.py`), the limit of all
tasks, wake-ups, housekeeping.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import redis

from pipeline.clock import Clock, SystemClock
from pipeline.errors import LeaseLost, QueueUnavailable, TaskNotFound
from pipeline.queue.connection import LateCluster, reaching
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.rules import Rules
from pipeline.queue.shard_limits import SharedLimit
from pipeline.queue.shard_turns import ShardTurns, Turn
from pipeline.queue.shards import home_of, in_any, rules_of_shards, shard_of_token
from pipeline.queue.types import (
    LANES,
    Claim,
    DeviceRules,
    Ended,
    Enqueued,
    Lane,
    Standing,
    Started,
    Task,
    TaskState,
)

_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


class Shard(FairQueue):
    """One shard, which leaves room for what the others hold."""

    def __init__(self, client: redis.Redis, rules: Rules, number: int, limit: SharedLimit, clock: Clock | None) -> None:
        super().__init__(client, rules, clock)
        self._number = number
        self._limit = limit

    def take_turn(self, lane: Lane, limit: int, per_turn: int | None, slot_ms: int) -> Turn | None:
        """Claim, and say what the turn, or all the turns of one slot, weigh among the shards."""
        return self._claim_turns(lane, limit, per_turn, slot_ms, turns=limit if slot_ms else 1)

    def is_woken(self, wake: str, *, timeout_s: float) -> bool:
        """Wait for this shard alone, and say whether something came in."""
        with reaching("wait for work"):
            return bool(self._client.blpop([wake], timeout=timeout_s))

    def _max_total(self) -> int:
        return self._limit.room_in(self._number)


class ShardedQueue(FairQueue):
    """`FairQueue` over shards; see there for what the methods do, here for what is different.

    Args:
        rules: with the prefix of the plain layout; each shard makes its own of it.
        count: number of shards, 1..64.
    """

    def __init__(self, client: redis.Redis, rules: Rules, count: int, clock: Clock | None = None) -> None:
        shards = rules_of_shards(rules, count)
        super().__init__(client, shards[0], clock)
        limit = SharedLimit(client, shards)
        self.shards = [Shard(client, own, number, limit, clock) for number, own in enumerate(shards)]
        self._turns = {lane: ShardTurns(count) for lane in LANES}
        self._turns_lock = threading.Lock()
        self._monotonic = SystemClock()

    # Submitting and ruling: at the device's home.

    def admit(self, mac: str, lane: Lane) -> int:
        return self._home(mac).admit(mac, lane)

    def enqueue(self, task: Task) -> Enqueued:
        return self._home(task.mac).enqueue(task)

    def restore(self, standings: Sequence[Standing]) -> list[TaskState]:
        """Two round trips for each shard that gets a task."""
        return _at_their_own(
            standings, lambda standing: self._home(standing.task.mac), lambda shard, own: shard.restore(own)
        )

    def replay(self, task: Task) -> Enqueued:
        return self._home(task.mac).replay(task)

    def set_device(self, mac: str, wanted: DeviceRules) -> None:
        self._home(mac).set_device(mac, wanted)

    def set_site(self, site: str, *, weight: float) -> None:
        """A site has devices in every shard, so all are told; after an error some have been: repeat it."""
        for shard in self.shards:
            shard.set_site(site, weight=weight)

    # Working: a claim goes from shard to shard, what follows it to the shard that its token names.

    def claim(self, lane: Lane, *, limit: int = 1, per_turn: int | None = None, slot_ms: int = 0) -> list[Claim]:
        """One turn of one device, or what one slot does, of one shard; the others are asked only when it has nothing.

        Raises: QueueUnavailable, when some shard did not answer and no other had anything.
        """
        turns, failure = self._turns[lane], None
        with self._turns_lock:
            order = turns.order(self._monotonic.monotonic_ms())
        for number in order:
            asked_ms = self._monotonic.monotonic_ms()
            try:
                turn = self.shards[number].take_turn(lane, limit, per_turn, slot_ms)
            except QueueUnavailable as exc:
                failure = exc
                with self._turns_lock:
                    turns.was_silent(number, asked_ms=asked_ms, now_ms=self._monotonic.monotonic_ms())
                continue
            with self._turns_lock:
                if turn:
                    turns.served(number, turn)
                    return turn.claims
                turns.found_empty(number)
        if failure:
            raise failure
        return []

    def start(self, task_id: str, token: int) -> Started:
        return self._holder(token).start(task_id, token)

    def renew(self, task_id: str, token: int) -> int:
        return self._holder(token).renew(task_id, token)

    def give_up(self, task_id: str, token: int) -> None:
        self._holder(token).give_up(task_id, token)

    def complete(self, task_id: str, token: int, *, cost_ms: int) -> None:
        self._holder(token).complete(task_id, token, cost_ms=cost_ms)

    def complete_each(self, ends: Sequence[tuple[str, int, int]]) -> list[LeaseLost | None]:
        """One call for each shard that gave a lease."""
        return _at_their_own(ends, lambda end: self._holder(end[1]), lambda shard, own: shard.complete_each(own))

    def retry(self, task_id: str, token: int, *, cost_ms: int, delay_ms: int, is_loss: bool = False) -> int:
        return self._holder(token).retry(task_id, token, cost_ms=cost_ms, delay_ms=delay_ms, is_loss=is_loss)

    def defer(self, task_id: str, token: int, *, code: str) -> Ended:
        return self._holder(token).defer(task_id, token, code=code)

    def hand_back(self, task_id: str, token: int, *, cost_ms: int = 0) -> None:
        self._holder(token).hand_back(task_id, token, cost_ms=cost_ms)

    def bury(self, task_id: str, token: int, *, ending: TaskState, code: str, message: str, cost_ms: int) -> None:
        self._holder(token).bury(task_id, token, ending=ending, code=code, message=message, cost_ms=cost_ms)

    def cancel(self, task_id: str) -> None:
        """Nothing in a task id names its shard, so they are asked one after the other."""
        if not in_any(self.shards, lambda shard: _has_cancelled(shard, task_id)):
            raise TaskNotFound(f"no task {task_id} in the queue")

    def amend(self, task_id: str, token: int | None, *, ending: TaskState, code: str) -> bool | None:
        """A task that was never leased has a token without a shard, so they are asked until one knows it."""
        return in_any(self.shards, lambda shard: shard.amend(task_id, token, ending=ending, code=code))

    def forget(self, task_id: str, token: int) -> bool | None:
        return in_any(self.shards, lambda shard: shard.forget(task_id, token))

    def home_number(self, mac: str) -> int:
        return home_of(mac, len(self.shards))

    # Keeping house: in each shard, up to `limit`.

    def reap(self, lane: Lane, *, limit: int = 100) -> list[Ended]:
        return self._everywhere(lambda shard: shard.reap(lane, limit=limit))

    def expire(self, *, limit: int = 100) -> list[Ended]:
        return self._everywhere(lambda shard: shard.expire(limit=limit))

    def promote(self, *, limit: int = 100) -> list[str]:
        return self._everywhere(lambda shard: shard.promote(limit=limit))

    def resume(self, *, limit: int = 100) -> list[str]:
        return self._everywhere(lambda shard: shard.resume(limit=limit))

    # Waiting.

    def wait_for_work(self, lane: Lane, *, timeout_s: float) -> None:
        """On one server all shards are waited for at once.

        A Cluster cannot wait for keys of several slots, so there each shard gets its part of the time: what comes into
        another one meanwhile is noticed within `timeout_s`, on the average after half of it.
        """
        self._is_woken([shard.keys.wake(lane) for shard in self.shards], timeout_s)

    def wait_for_bell(self, *, timeout_s: float) -> bool:
        return self._is_woken([shard.keys.bell() for shard in self.shards], timeout_s)

    def _is_woken(self, wakes: Sequence[str], timeout_s: float) -> bool:
        if not isinstance(self._client, LateCluster):
            with reaching("wait for work"):
                return bool(self._client.blpop(wakes, timeout=timeout_s))
        end_ms = self._monotonic.monotonic_ms() + timeout_s * 1000
        for waited, (shard, wake) in enumerate(zip(self.shards, wakes, strict=True)):
            # A server may answer up to 100 ms late; what is not waited for then is found by the claim that follows.
            left_s = (end_ms - self._monotonic.monotonic_ms()) / 1000
            if left_s <= 0:
                break
            try:
                if shard.is_woken(wake, timeout_s=left_s / (len(self.shards) - waited)):
                    return True
            except QueueUnavailable:
                continue  # the claim that follows finds out whether anybody answers
        return False

    def _home(self, mac: str) -> Shard:
        return self.shards[self.home_number(mac)]

    def _holder(self, token: int) -> Shard:
        return self.shards[shard_of_token(token, len(self.shards))]

    def _everywhere(self, keep_house: Callable[[Shard], list[_Row]]) -> list[_Row]:
        """What all shards gave; a silent one raises only when the others gave nothing, lest that be lost."""
        rows, failure = [], None
        for shard in self.shards:
            try:
                rows += keep_house(shard)
            except QueueUnavailable as exc:
                failure = exc
        if failure and not rows:
            raise failure
        return rows


def _at_their_own(
    items: Sequence[_Item], shard_of: Callable[[_Item], Shard], ask: Callable[[Shard, list[_Item]], Sequence[_Row]]
) -> list[_Row]:
    """What `ask` answers for the items, in their order; called once for each shard that has some, with those."""
    places: dict[Shard, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(shard_of(item), []).append(place)
    answers: dict[int, _Row] = {}
    for shard, own in places.items():
        answers |= zip(own, ask(shard, [items[place] for place in own]), strict=True)
    return [answers[place] for place in range(len(items))]


def _has_cancelled(shard: Shard, task_id: str) -> bool | None:
    """True, or None when the shard knows no such task."""
    try:
        shard.cancel(task_id)
    except TaskNotFound:
        return None
    return True
