"""The one place that says what becomes of a task, by the class of its error.

| raised | the task | the ledger |
| --- | --- | --- |
| nothing | complete | written by the actor, with the result |
| Overload: NoCapableWorker | defer: later, no attempt, the device's lane in backoff | delayed |
| Overload: anything else | back to the head of its line, no attempt | queued |
| EngineFailure | retry with backoff; dead once it has cost too many engines and workers | delayed / dead |
| Retryable, or a bug | retry with backoff; dead after the last attempt | delayed / dead |
| Permanent | buried at once: failed | failed |
| TaskEnded | the queue follows the ledger | untouched |
| TaskNotFound | forgotten: the submission was withdrawn | nothing there |
| LeaseLost | nothing: somebody else owns it | untouched |

The ledger is written first: should the process die in between, the next worker finds the task ended.
"""

import logging
import random
from dataclasses import dataclass
from typing import Self

from dramatiq import Broker, MessageProxy, Middleware

from models.ledger import Ledger
from pipeline.attempts import Abandon, Attempt, Bury, Complete, Defer, Discard, Ending, Follow, HandBack, Retry
from pipeline.broker import ClaimedMessage
from pipeline.clock import Clock
from pipeline.errors import (
    DatabaseUnavailable,
    EngineFailure,
    FairlaneError,
    LeaseLost,
    NoCapableWorker,
    Overload,
    Permanent,
    TaskEnded,
    TaskNotFound,
)
from pipeline.queue import TASK_LANES, TaskState
from pipeline.settings import Settings

log = logging.getLogger(__name__)

#: Share of a delay that is left to chance, so that tasks that failed together do not come back together.
_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class RetryRules:
    """When a failed attempt is repeated.

    Args:
        max_attempts: attempts in all.
        max_losses: workers and engines that a task may cost.
        base_ms: wait before the second attempt; doubles with each.
        max_ms: longest wait.
    """

    max_attempts: int
    max_losses: int
    base_ms: int
    max_ms: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            max_attempts=settings.max_attempts,
            max_losses=settings.max_deliveries,
            base_ms=settings.retry_backoff_base_seconds * 1000,
            max_ms=settings.retry_backoff_max_seconds * 1000,
        )

    def delay_ms(self, attempt: int) -> int:
        """The wait after the given attempt (from 1), with jitter, never above `max_ms`."""
        full = min(self.base_ms * 2 ** min(attempt - 1, 30), self.max_ms)
        return int(full * (1 - _JITTER * random.random()))  # noqa: S311 - not a secret


class Outcome(Middleware):
    """Decides the ending of every task and tells the ledger of all but the good ones."""

    def __init__(self, ledger: Ledger, clock: Clock, rules: RetryRules) -> None:
        self._ledger = ledger
        self._clock = clock
        self._rules = rules

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        is_answered = True
        for attempt in message.begun:
            # What the actor did not catch itself has stopped it for all of them.
            attempt.error = attempt.error or exception
            attempt.ending = self._ending(attempt.error, attempt.number, attempt.losses)
            attempt.run(_report, attempt)
            # A database that is away is waited for once, not once for each task of the slot.
            is_answered = is_answered and attempt.run(self._is_written, attempt)

    def _is_written(self, attempt: Attempt) -> bool:
        """Tell the ledger; False when the database does not answer."""
        try:
            self._write(attempt)
        except TaskEnded as exc:  # a cancel was faster: the queue follows the ledger
            attempt.ending = _follow(exc)
        except TaskNotFound:
            attempt.ending = Discard()
        except FairlaneError as exc:
            # The queue is told all the same; the reconciler brings the ledger after it.
            log.warning("the ledger was not told of the ending: %s", exc)
            return not isinstance(exc, DatabaseUnavailable)
        except Exception:
            # A bug with one task must not leave the endings of those behind it undecided.
            log.exception("the ledger was not told of the ending, by a bug")
        return True

    def _ending(self, error: BaseException | None, attempt: int, losses: int) -> Ending:
        match error:
            case None:
                return Complete()
            case LeaseLost():
                return Abandon()
            case TaskNotFound():
                return Discard()
            case TaskEnded():
                return _follow(error)
            case NoCapableWorker():
                return Defer(error.code)
            case Overload():
                return HandBack(error.code)
            case Permanent():
                return Bury(TaskState.FAILED, error.code, str(error))
        is_loss = isinstance(error, EngineFailure)
        if is_loss and losses + 1 >= self._rules.max_losses:
            return Bury(TaskState.DEAD, _code_of(error), f"it cost {losses + 1} engines: {_message_of(error)}")
        if attempt >= self._rules.max_attempts:
            return Bury(TaskState.DEAD, _code_of(error), f"{attempt} attempts: {_message_of(error)}")
        return Retry(self._rules.delay_ms(attempt), _code_of(error), is_loss)

    def _write(self, attempt: Attempt) -> None:
        task_id, token, error = attempt.claim.task_id, attempt.claim.token, attempt.error
        if attempt.claim.lane not in TASK_LANES:  # the ledger holds no deliveries: their rows are written by the actor
            return
        match attempt.ending:
            case Retry(delay_ms, code):
                due_ms = self._clock.now_ms() + delay_ms
                self._ledger.put_back(task_id, token, "delayed", code, _message_of(error), due_ms)
            case Defer(code):
                self._ledger.put_back(task_id, token, "delayed", code, _message_of(error), None)
            case HandBack(code):
                self._ledger.put_back(task_id, token, "queued", code, _message_of(error), None)
            case Bury(state, code, text):
                self._ledger.end(task_id, token, state.value, code, text)


def _follow(error: TaskEnded) -> Ending:
    state = TaskState(error.state)
    return Complete() if state is TaskState.DONE else Follow(state, error.code)


def _code_of(error: BaseException | None) -> str:
    return error.code if isinstance(error, FairlaneError) else FairlaneError.code


def _message_of(error: BaseException | None) -> str:
    # What a bug says may hold anything; what our own errors say is meant to be read.
    return str(error) if isinstance(error, FairlaneError) else f"unexpected {type(error).__name__}"


def _report(attempt: Attempt) -> None:
    error, ending = attempt.error, type(attempt.ending).__name__.lower()
    fields = {"ending": ending, "run_ms": attempt.cost_ms, "attempt": attempt.number}
    if error is None:
        log.info("task ended", extra=fields)
    elif isinstance(error, FairlaneError):
        log.log(_level_of(error), "task ended: %s", error, extra={**fields, "code": error.code})
    else:
        log.error("task ended by a bug", extra=fields, exc_info=error)


def _level_of(error: FairlaneError) -> int:
    match error:
        case TaskEnded():  # somebody cancelled it, for one
            return logging.INFO
        case Permanent():
            return logging.ERROR
    return logging.WARNING
