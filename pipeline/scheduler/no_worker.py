"""Duty: what waits though nobody alive can do it is deferred, rejected, or sent to workers without a GPU."""

import logging
from collections.abc import Callable, Sequence
from typing import Literal

from models.ledger import Ledger
from pipeline.errors import LeaseLost, NoCapableWorker, TaskEnded, TaskNotFound
from pipeline.queue import TASK_LANES, Claim, Ended, Entry, FairQueue, Inspector, Lane, Roster, TaskState, serving
from pipeline.recovery import follow_ledger

log = logging.getLogger(__name__)

Strategy = Literal["defer", "reject", "cpu"]

#: Tasks of one lane that one round defers or rejects, at most.
_BATCH = 200
#: How long workers without a GPU go on after the last round that sent them images, ms: a scheduler may be restarted.
_DOWNGRADE_MS = 30_000
_CODE = NoCapableWorker.code


class NoWorker:
    """The only judge of who is missing: several may judge at once, since what they know lies in the roster.

    A worker that comes back in the middle is harmless: each task is claimed here as it is there, so one of the two has
    it. Nothing is charged: no attempt, no cost.

    Args:
        grace_ms: how long nobody must have been there before the strategy is applied.
    """

    def __init__(
        self,
        queue: FairQueue,
        inspector: Inspector,
        roster: Roster,
        ledger: Ledger,
        *,
        strategy: Strategy,
        grace_ms: int,
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._roster = roster
        self._ledger = ledger
        self._strategy = strategy
        self._grace_ms = grace_ms

    def run(self) -> None:
        """Judge every lane in which something is pending; a batch of its tasks at most is dealt with."""
        workers: Sequence[Entry] | None = None
        for lane, (waiting, delayed) in self._inspector.counts(is_partial=True).items():
            if lane not in TASK_LANES:  # announcements wait until somebody makes them; their rows know for how long
                continue
            is_idle = waiting + delayed == 0
            if is_idle and not self._roster.is_missing(lane):
                continue
            workers = self._roster.workers() if workers is None else workers
            if self._is_missing_for_long(lane, workers, is_idle=is_idle) and waiting:
                self._apply(lane, workers)

    def _is_missing_for_long(self, lane: Lane, workers: Sequence[Entry], *, is_idle: bool) -> bool:
        if self._roster.needs.capable(workers, lane):
            if self._roster.end_missing(lane):
                log.info("somebody can do the work again", extra={"lane": lane})
            return False
        # A lane that is empty waits for nobody. During a downgrade it is empty for a good reason, and the next task
        # must not have to wait for the grace again.
        if is_idle and not self._roster.is_downgraded(lane):
            self._roster.end_missing(lane)
            return False
        now_ms = self._inspector.now_ms()
        since_ms = self._roster.note_missing(lane, now_ms, ttl_ms=max(60_000, 2 * self._grace_ms))
        if now_ms - since_ms < self._grace_ms:
            return False
        self._downgrade(lane, workers)
        return True

    def _downgrade(self, lane: Lane, workers: Sequence[Entry]) -> None:
        if self._strategy != "cpu" or lane not in self._roster.needs.gpu or not serving(workers, lane):
            return
        if self._roster.begin_downgrade(lane, ttl_ms=_DOWNGRADE_MS):
            log.warning("no worker with a GPU is alive: workers without one take over", extra={"lane": lane})

    def _apply(self, lane: Lane, workers: Sequence[Entry]) -> None:
        if self._strategy == "reject":
            self._deal_with(lane, self._reject)
        elif self._strategy == "defer" or not self._roster.able(workers, lane):
            self._deal_with(lane, self._defer)

    def _deal_with(self, lane: Lane, deal: Callable[[Claim], Ended]) -> None:
        dealt = 0
        # One task a claim: a deferred one takes its device out of turn, so no line is emptied into the future.
        while dealt < _BATCH and (claims := self._queue.claim(lane)):
            for claim in claims:
                try:
                    self._tell(lane, deal(claim))
                except LeaseLost as exc:
                    log.info("it was taken from us meanwhile: %s", exc)
                dealt += 1
        if dealt:
            log.warning("nobody alive can do this", extra={"lane": lane, "tasks": dealt, "strategy": self._strategy})

    def _defer(self, claim: Claim) -> Ended:
        return self._queue.defer(claim.task_id, claim.token, code=_CODE)

    def _reject(self, claim: Claim) -> Ended:
        message = _message(claim.lane)
        self._queue.bury(claim.task_id, claim.token, ending=TaskState.DEAD, code=_CODE, message=message, cost_ms=0)
        return Ended(claim.task_id, TaskState.DEAD, claim.token, _CODE)

    def _tell(self, lane: Lane, ended: Ended) -> None:
        try:
            if ended.state is TaskState.DEAD:
                self._ledger.end(ended.task_id, ended.token, ended.state.value, ended.code, _message(lane))
            else:
                self._ledger.put_back(ended.task_id, ended.token, "delayed", ended.code, _message(lane), ended.due_ms)
        except TaskEnded:
            follow_ledger(self._queue, self._ledger, ended.task_id, ended.token)
        except TaskNotFound:
            self._queue.forget(ended.task_id, ended.token)
        except LeaseLost as exc:
            log.info("a newer lease has begun: %s", exc, extra={"task_id": ended.task_id})


def _message(lane: Lane) -> str:
    return f"no live worker can do the work of lane {lane}"
