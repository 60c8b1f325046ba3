"""execute_text: screen a text and store what was found."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import dramatiq

from models.ledger import Begun, Finished, Ledger, TaskRow
from pipeline import tracing
from pipeline.actors.screening import log_hits, screened
from pipeline.actors.steps import StepLog
from pipeline.clock import Clock
from pipeline.errors import FairlaneError
from pipeline.lists.following import FollowedLists

#: Characters that are screened within some milliseconds: the ledger hears of the start of such a text with its end. Of
#: one that has been tried before it hears at once: should it kill its workers, its row says how many.
_BRIEF_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class TextWork:
    """The work of one text task, from its claim to its stored result."""

    ledger: Ledger
    lists: FollowedLists
    clock: Clock

    def run(self, task_id: str, token: int, attempt: int) -> None:
        """Do it; nothing is stored unless the lease still holds at the end, and then everything at once.

        Raises: whatever `middleware/outcome.py` decides about.
        """
        task = self.ledger.startable(task_id, token)
        begun: Begun | None = Begun(attempt, self.clock.now_ms())
        if attempt > 1 or len(task.payload["text"]) > _BRIEF_CHARS:
            self.ledger.start(task_id, token, attempt)
            begun = None
        self._screen(task, token, attempt, begun)

    def _screen(self, task: TaskRow, token: int, attempt: int, begun: Begun | None) -> None:
        began_ms = self.clock.monotonic_ms()
        steps = StepLog(self.ledger, self.clock, task.task_id, token)
        text = str(task.payload["text"])
        with steps.step("screen"), self._started_by_failure(task.task_id, token, attempt):
            words = tuple(task.payload.get("words", ()))
            screening, detection = screened(
                self.clock, text, lambda: self.lists.detector(task.site, task.mac).screen(text, words)
            )
        steps.mark("store", "done")
        run_ms = self.clock.monotonic_ms() - began_ms
        outcome = Finished(ocr=None, detection=detection, steps=steps.records, run_ms=run_ms)
        with tracing.step("store"), self._started_by_failure(task.task_id, token, attempt):
            self.ledger.finish(task.task_id, token, outcome, begun)
        log_hits(screening)

    @contextmanager
    def _started_by_failure(self, task_id: str, token: int, attempt: int) -> Iterator[None]:
        """Let the ledger know of an attempt that fails: by this its steps are written, and the attempt counted."""
        try:
            yield
        except Exception:
            with suppress(FairlaneError):  # what has failed is what matters
                self.ledger.start(task_id, token, attempt)
            raise


def declare_execute_text(broker: dramatiq.Broker, work: TextWork) -> None:
    """Make the lane `text` known to the broker."""

    @dramatiq.actor(broker=broker, queue_name="text", throws=(FairlaneError,))
    def execute_text(task_id: str, token: int, attempt: int) -> None:
        work.run(task_id, token, attempt)
