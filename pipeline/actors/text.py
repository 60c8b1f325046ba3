"""execute_text: screen a text and store what was found."""

from dataclasses import dataclass

import dramatiq

from models.ledger import Finished, Ledger
from pipeline import tracing
from pipeline.actors.screening import log_hits, screened
from pipeline.actors.steps import StepLog
from pipeline.clock import Clock
from pipeline.errors import FairlaneError
from pipeline.lists.following import FollowedLists


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
        task = self.ledger.start(task_id, token, attempt)
        began_ms = self.clock.monotonic_ms()
        steps = StepLog(self.ledger, self.clock, task_id, token)
        text = str(task.payload["text"])
        with steps.step("screen"):
            words = tuple(task.payload.get("words", ()))
            screening, detection = screened(
                self.clock, text, lambda: self.lists.detector(task.site, task.mac).screen(text, words)
            )
        steps.mark("store", "done")
        with tracing.step("store"):
            self.ledger.finish(
                task_id,
                token,
                Finished(
                    ocr=None,
                    detection=detection,
                    steps=steps.records,
                    run_ms=self.clock.monotonic_ms() - began_ms,
                ),
            )
        log_hits(screening)


def declare_execute_text(broker: dramatiq.Broker, work: TextWork) -> None:
    """Make the lane `text` known to the broker."""

    @dramatiq.actor(broker=broker, queue_name="text", throws=(FairlaneError,))
    def execute_text(task_id: str, token: int, attempt: int) -> None:
        work.run(task_id, token, attempt)
