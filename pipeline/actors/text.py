"""execute_text: screen texts and store what was found."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

import dramatiq

from models.ledger import Begun, Finished, GoodEnd, Ledger, TaskRow
from pipeline import tracing
from pipeline.actors.screening import log_hits, screened
from pipeline.actors.steps import StepLog
from pipeline.attempts import Attempt
from pipeline.clock import Clock
from pipeline.detector.findings import Screening
from pipeline.errors import DatabaseUnavailable, FairlaneError
from pipeline.lists.following import FollowedLists

#: Characters that are screened within some milliseconds: the ledger hears of the start of such a text with its end. Of
#: one that has been tried before it hears at once: should it kill its workers, its row says how many.
_BRIEF_CHARS = 10_000
#: Milliseconds after which what is screened is stored, though not all of the slot is: one that is slow for once must
#: not keep the results of those before it to itself.
_STORED_AFTER_MS = 100


@dataclass(frozen=True, slots=True)
class _Screened:
    """A text that is to be stored.

    Args:
        storing: the span of that, if there is one; closed with it.
    """

    attempt: Attempt
    screening: Screening
    end: GoodEnd
    storing: AbstractContextManager[None]


@dataclass(frozen=True, slots=True)
class TextWork:
    """The work of text tasks that one slot does together, from their claim to their stored results.

    Each stands for itself: what goes wrong with one is its attempt's error, and costs the others nothing.
    """

    ledger: Ledger
    lists: FollowedLists
    clock: Clock

    def run(self, attempts: Sequence[Attempt]) -> None:
        """Do it: look them up together, screen one after the other, store together.

        Nothing of a text is stored unless its lease still holds at the end, and then everything at once.
        """
        tasks = self.ledger.startable_each([(attempt.claim.task_id, attempt.claim.token) for attempt in attempts])
        done, since_ms = list[_Screened](), self.clock.monotonic_ms()
        for attempt, task in zip(attempts, tasks, strict=True):
            if isinstance(task, FairlaneError):
                attempt.error = task
            elif one := attempt.do(self._screened, attempt, task):
                done.append(one)
            if self.clock.monotonic_ms() - since_ms > _STORED_AFTER_MS:
                self._store(done)
                done, since_ms = [], self.clock.monotonic_ms()
        self._store(done)

    def _store(self, done: Sequence[_Screened]) -> None:
        if done:
            errors = self.ledger.finish_each([one.end for one in done])
            for one, error in zip(done, errors, strict=True):
                one.attempt.do(self._stored, one, error)

    def _screened(self, attempt: Attempt, task: TaskRow) -> _Screened:
        began_ms, began_us = self.clock.monotonic_ms(), self.clock.thread_us()
        begun: Begun | None = Begun(attempt.number, self.clock.now_ms())
        text = str(task.payload["text"])
        if attempt.number > 1 or len(text) > _BRIEF_CHARS:
            self.ledger.start(task.task_id, attempt.claim.token, attempt.number)
            begun = None
        steps = StepLog(self.ledger, self.clock, task.task_id, attempt.claim.token)
        try:
            with steps.step("screen"), self._started_by_failure(attempt):
                words = tuple(task.payload.get("words", ()))
                screening, detection = screened(
                    self.clock, text, lambda: self.lists.detector(task.site, task.mac).screen(text, words)
                )
        finally:
            # Waiting for a processor, or for the database, is nobody's own.
            attempt.own_ms = (self.clock.thread_us() - began_us) / 1_000
        steps.mark("store", "done")
        storing = tracing.step("store")  # whose span is the current one from here on
        outcome = Finished(
            ocr=None, detection=detection, steps=steps.records, run_ms=self.clock.monotonic_ms() - began_ms
        )
        return _Screened(attempt, screening, GoodEnd(task.task_id, attempt.claim.token, outcome, begun), storing)

    def _stored(self, one: _Screened, error: Exception | None) -> None:
        with one.storing, self._started_by_failure(one.attempt):
            if error is not None:
                raise error
        log_hits(one.screening)

    @contextmanager
    def _started_by_failure(self, attempt: Attempt) -> Iterator[None]:
        """Let the ledger know of an attempt that fails: by this its steps are written, and the attempt counted."""
        try:
            yield
        except DatabaseUnavailable:
            raise  # it would not hear of that either
        except Exception:
            with suppress(FairlaneError):  # what has failed is what matters
                self.ledger.start(attempt.claim.task_id, attempt.claim.token, attempt.number)
            raise


def declare_execute_text(broker: dramatiq.Broker, work: TextWork) -> None:
    """Make the lane `text` known to the broker."""

    @dramatiq.actor(broker=broker, queue_name="text")
    def execute_text(attempts: Sequence[Attempt]) -> None:
        work.run(attempts)
