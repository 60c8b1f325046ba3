"""The fair queue: one method per script that changes state.

Every method that takes a `token` raises `LeaseLost`, and changes nothing, when the lease is no longer the caller's.
Every method raises `QueueUnavailable` when the server does not answer in time. No policy lives here: order, gates and
accounts are in the scripts (`lua/`), explained in docs/why/fairness.md.
"""

from collections.abc import Iterator, Sequence

from pipeline.errors import LeaseLost, TaskEnded, TaskNotFound
from pipeline.queue.calls import lost_lease
from pipeline.queue.connection import reaching
from pipeline.queue.limits import check_device_rules, check_weight
from pipeline.queue.scripts import Reply
from pipeline.queue.shard_turns import Turn
from pipeline.queue.submitting import Submitting
from pipeline.queue.types import LANES, Claim, DeviceRules, Ended, Lane, Started, TaskState


class FairQueue(Submitting):
    """Lines of tasks, one per device and lane, served fairly."""

    # Ruling.

    def set_device(self, mac: str, wanted: DeviceRules) -> None:
        """Change how a device is served, at once and for the backlog that is already there.

        Raises: InvalidInput, naming each value out of its range.
        """
        check_device_rules(wanted)
        self._call(
            "set_device",
            mac,
            self.rules.policy,
            " ".join(LANES),
            _or_empty(wanted.weight),
            _or_empty(wanted.max_inflight),
            _or_empty(wanted.rate_per_minute),
            "1" if wanted.is_paused else "",
            " ".join(sorted(wanted.paused_lanes)),
        )

    def set_site(self, site: str, *, weight: float) -> None:
        """Change the share of a site against the others, at once and for the backlog that is already there.

        Raises: InvalidInput.
        """
        check_weight(weight)
        self._call("set_site", site, self.rules.policy, " ".join(LANES), repr(float(weight)))

    # Working.

    def claim(self, lane: Lane, *, limit: int = 1, per_turn: int | None = None, slot_ms: int = 0) -> list[Claim]:
        """Lease tasks of the devices whose turn it is, from the heads of their lines; no two callers get the same one.

        Args:
            limit: tasks wanted, 1..1000; turn follows turn until there are enough. The caller's free slots at most,
                unless they are for one.
            per_turn: tasks of one turn; `batch_max` when not given, and never more than that. While another device that
                could be served is starving it is one.
            slot_ms: one slot does all of them, one after the other; they have begun. Turns end once they are estimated
                to take it so long, worker-ms; 0: each has a slot.
        Returns: the claims, none when nothing can be served now.
        """
        turn = self._claim_turns(lane, limit, per_turn, slot_ms, turns=limit)
        return turn.claims if turn else []

    def _claim_turns(self, lane: Lane, limit: int, per_turn: int | None, slot_ms: int, *, turns: int) -> Turn | None:
        rules = self.rules
        reply = self._call(
            "claim",
            lane,
            rules.lease_ms,
            rules.policy,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
            limit,
            min(rules.batch_max, per_turn or rules.batch_max),
            turns,
            rules.starved_ms,
            slot_ms,
        )
        if reply.word == "empty":
            return None
        values, first = reply.values, 4 + 3 * reply.number(3)
        weighed = zip(values[4:first:3], values[5:first:3], values[6:first:3], strict=True)
        return Turn(
            claims=list(_claims(lane, reply.number(0), values[first:], width=7 if slot_ms else 4)),
            charge_ms=float(reply.text(1)),
            weighed={site.decode(): (float(weight), float(devices)) for site, weight, devices in weighed},
            sites=reply.number(2),
        )

    def start(self, task_id: str, token: int) -> Started:
        """Begin to run a claimed task: from here on it counts as an attempt."""
        reply = self._held("start", task_id, token)
        return Started(attempt=reply.number(0), losses=reply.number(1), payload=reply.values[2])

    def renew(self, task_id: str, token: int) -> int:
        """Hold the lease for another `lease_ms`; return its new end, epoch ms.

        Raises: LeaseLost, also when the task has been held for longer than `max_run_ms`.
        """
        rules = self.rules
        reply = self._held("renew", task_id, token, rules.lease_ms, rules.max_run_ms, rules.policy)
        if reply.word == "overrun":
            raise LeaseLost(f"task {task_id} has been held for {reply.number(0)} ms, the longest run allowed")
        return reply.number(0)

    def give_up(self, task_id: str, token: int) -> None:
        """End the lease now, whose holder is known to be dead: the next sweep takes the task back."""
        self._held("renew", task_id, token, 0, self.rules.max_run_ms, self.rules.policy)

    def complete(self, task_id: str, token: int, *, cost_ms: int) -> None:
        """End the task well and charge its device `cost_ms` worker-milliseconds."""
        (lost,) = self.complete_each([(task_id, token, cost_ms)])
        if lost:
            raise lost

    def complete_each(self, ends: Sequence[tuple[str, int, int]]) -> list[LeaseLost | None]:
        """End tasks well, each given by id, token and cost; return for each whether its lease was lost."""
        rules, packed = self.rules, " ".join(f"{task_id} {token} {cost_ms}" for task_id, token, cost_ms in ends)
        reply = self._call("complete", packed, rules.policy, rules.dedupe_ms, rules.max_per_mac)
        states = [value.decode() for value in reply.values]
        return [
            lost_lease("complete", task_id, token, state) if state else None
            for (task_id, token, _), state in zip(ends, states, strict=True)
        ]

    def retry(self, task_id: str, token: int, *, cost_ms: int, delay_ms: int, is_loss: bool = False) -> int:
        """Put the task back after a failed attempt; return when it is due, epoch ms.

        Args:
            is_loss: the attempt cost an engine; it counts beside the workers that the task has lost.
        """
        return self._held("retry", task_id, token, cost_ms, self.rules.policy, delay_ms, int(is_loss)).number(0)

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
        due_ms = reply.number(0) if reply.word == "delayed" else None
        return Ended(task_id, TaskState(reply.word), token, code, due_ms)

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

    def amend(self, task_id: str, token: int | None, *, ending: TaskState, code: str) -> bool | None:
        """End a task as the ledger says that it ended, though the queue has not ended it or has ended it otherwise.

        Args:
            token: of its last lease as the caller knows it; a task that has gone on since is left alone. None: any.
        Returns: whether anything had to be changed; None when there is no such task.
        """
        rules = self.rules
        reply = self._call(
            "amend",
            task_id,
            "" if token is None else token,
            ending.value,
            code,
            rules.policy,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
        )
        return None if reply.word == "unknown" else reply.word == "amended"

    def forget(self, task_id: str, token: int) -> bool | None:
        """Take an open task out as if it had never come in: the ledger does not have it.

        Args:
            token: as in `amend`.
        Returns: whether it was taken out; None when it was not there.
        """
        word = self._call("forget", task_id, token, self.rules.policy, self.rules.max_per_mac).word
        return None if word == "unknown" else word == "forgotten"

    def home_number(self, mac: str) -> int:
        """The shard of a device, from 0."""
        return 0

    # Keeping house: what the scheduler calls, again and again.

    def reap(self, lane: Lane, *, limit: int = 100) -> list[Ended]:
        """Take back the tasks whose lease ran out: queued again at the head, or dead (`worker_crash`)."""
        rules = self.rules
        reply = self._call(
            "reap",
            lane,
            limit,
            rules.policy,
            rules.max_losses,
            rules.dedupe_ms,
            rules.max_per_mac,
            rules.dead_letter_max,
            rules.lease_ms,
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
        reply = self._call("promote", limit, self.rules.policy, self.rules.max_per_mac)
        return [row[0] for row in _rows(reply, 1)]

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

    def wait_for_bell(self, *, timeout_s: float) -> bool:
        """Wait until something falls due sooner than the scheduler could know; False after `timeout_s` seconds."""
        with reaching("wait for the bell"):
            return bool(self._client.blpop([self.keys.bell()], timeout=timeout_s))


def _claims(lane: Lane, lease_ends_ms: int, values: list[bytes], *, width: int) -> Iterator[Claim]:
    for i in range(0, len(values), width):
        mac, site, task_id, token, *begun = values[i : i + width]
        started = Started(int(begun[0]), int(begun[1]), begun[2]) if begun else None
        yield Claim(task_id.decode(), lane, mac.decode(), site.decode(), int(token), lease_ends_ms, started)


def _rows(reply: Reply, width: int) -> list[list[str]]:
    flat = [value.decode() for value in reply.values]
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def _or_empty(value: float | None) -> str:
    return "" if value is None else repr(value)
