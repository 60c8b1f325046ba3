"""One attempt at a task, from its claim until the queue has been told how it ended; the ways in which it can end."""

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from pipeline.log import bind_fields
from pipeline.queue import Claim, Started, TaskState
from pipeline.tracing import NOTHING_CARRIED, Scope

_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class Complete:
    """The work is done and stored."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failure that may pass: again after `delay_ms`.

    Args:
        is_loss: it cost an engine, as poison does each time.
    """

    delay_ms: int
    code: str
    is_loss: bool = False


@dataclass(frozen=True, slots=True)
class Defer:
    """Nobody can do this now: later, without an attempt."""

    code: str


@dataclass(frozen=True, slots=True)
class HandBack:
    """This worker cannot do it now: to the head of the line, for whoever claims it next."""

    code: str


@dataclass(frozen=True, slots=True)
class Bury:
    """It will never do (`failed`), or nothing is left to try (`dead`)."""

    state: TaskState
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Follow:
    """The ledger had ended the task already, so."""

    state: TaskState
    code: str


@dataclass(frozen=True, slots=True)
class Discard:
    """The ledger knows no such task: the submission was withdrawn after it was put in line."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """The lease is somebody else's: say nothing."""


Ending = Complete | Retry | Defer | HandBack | Bury | Follow | Discard | Abandon


class Attempt:
    """What this worker makes of a claim; used by the thread that works for it, then by the one that tells the queue.

    Its log fields and its span are those of a context of its own, so that one thread can go from task to task: whatever
    is done for this one alone is done by `run` or `do`.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        #: From 1; 0 before the attempt has begun.
        self.number = 0
        #: Workers and engines that the task has cost before this attempt.
        self.losses = 0
        #: What was put in line with the task; known once the attempt has begun.
        self.payload = NOTHING_CARRIED
        #: Of the span that is its own; None where it has no trace.
        self.scope: Scope | None = None
        #: What went wrong, of which the outcome middleware makes an ending.
        self.error: BaseException | None = None
        #: Unless somebody decides, the lease runs out and the delivery counts: a bug here must not loop for ever.
        self.ending: Ending = Abandon()
        #: Milliseconds of a thread that were spent for it alone, where several tasks share a slot.
        self.own_ms = 0.0
        #: Worker-milliseconds used, written by the measure middleware.
        self.cost_ms = 0
        self.is_told = False
        #: Telling the queue has shown that the lease is another's by now.
        self.is_lease_lost = False
        self._context = copy_context()
        self.run(bind_fields, task_id=claim.task_id, mac=claim.mac, lane=claim.lane, token=claim.token)

    def __repr__(self) -> str:
        return f"<attempt {self.number} at {self.claim.task_id}>"

    def begin(self, started: Started) -> None:
        """Note what is known once the attempt has begun."""
        self.number, self.losses, self.payload = started.attempt, started.losses, started.payload

    def run(self, deed: Callable[..., _Got], *args: Any, **options: Any) -> _Got:
        """Call `deed` with this task's log fields and span."""
        return self._context.run(deed, *args, **options)

    def do(self, deed: Callable[..., _Got], *args: Any) -> _Got | None:
        """The same for a part of the work; None when it fails: the error is how the attempt goes on to its end."""
        try:
            return self.run(deed, *args)
        except Exception as exc:  # noqa: BLE001 - outcome decides, and reports bugs
            self.error = exc
            return None
