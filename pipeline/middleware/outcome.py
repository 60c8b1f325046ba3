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
from pipeline.broker import Abandon, Bury, ClaimedMessage, Complete, Defer, Discard, Ending, Follow, HandBack, Retry
from pipeline.clock import Clock
from pipeline.errors import (
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

    @property
    def actor_options(self) -> set[str]:
        # Dramatiq logs errors that an actor declares in `throws` in one line; Retries, which is not installed, would
        # make the option known.
        return {"throws"}

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if not isinstance(message, ClaimedMessage):
            return
        message.ending = self._ending(exception, message.attempt, message.losses)
        _report(message, exception)
        try:
            self._write(message, exception)
        except TaskEnded as exc:  # a cancel was faster: the queue follows the ledger
            message.ending = _follow(exc)
        except TaskNotFound:
            message.ending = Discard()
        except FairlaneError as exc:
            # The queue is told all the same; the reconciler brings the ledger after it.
            log.warning("the ledger was not told of the ending: %s", exc)

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
                return HandBack()
            case Permanent():
                return Bury(TaskState.FAILED, error.code, str(error))
        is_loss = isinstance(error, EngineFailure)
        if is_loss and losses + 1 >= self._rules.max_losses:
            return Bury(TaskState.DEAD, _code_of(error), f"it cost {losses + 1} engines: {_message_of(error)}")
        if attempt >= self._rules.max_attempts:
            return Bury(TaskState.DEAD, _code_of(error), f"{attempt} attempts: {_message_of(error)}")
        return Retry(self._rules.delay_ms(attempt), is_loss)

    def _write(self, message: ClaimedMessage, error: BaseException | None) -> None:
        task_id, token = message.claim.task_id, message.claim.token
        if message.claim.lane not in TASK_LANES:  # the ledger holds no deliveries: their rows are written by the actor
            return
        match message.ending:
            case Retry(delay_ms, _):
                due_ms = self._clock.now_ms() + delay_ms
                self._ledger.put_back(task_id, token, "delayed", _code_of(error), _message_of(error), due_ms)
            case Defer(code):
                self._ledger.put_back(task_id, token, "delayed", code, _message_of(error), None)
            case HandBack():
                self._ledger.put_back(task_id, token, "queued", _code_of(error), _message_of(error), None)
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


def _report(message: ClaimedMessage, error: BaseException | None) -> None:
    ending = type(message.ending).__name__.lower()
    fields = {"ending": ending, "run_ms": message.cost_ms, "attempt": message.attempt}
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
