"""The steps of one task, as rows: what ran, when, how it ended."""

from collections.abc import Iterator
from contextlib import contextmanager

from models.ledger import Ledger, StepRecord
from pipeline import tracing
from pipeline.clock import Clock
from pipeline.errors import FairlaneError


class StepLog:
    """Collects the steps of one attempt; most are written together with the result, in one transaction.

    Args:
        ledger: where a step that takes long, or fails, is written at once.
    """

    def __init__(self, ledger: Ledger, clock: Clock, task_id: str, token: int) -> None:
        self._ledger = ledger
        self._clock = clock
        self._task_id = task_id
        self._token = token
        self._records: dict[str, StepRecord] = {}

    @property
    def records(self) -> list[StepRecord]:
        return list(self._records.values())

    @contextmanager
    def step(self, name: str, *, is_long: bool = False) -> Iterator[None]:
        """Time the block as the step `name`, a span of its trace; a failure is written at once, with its reason.

        Args:
            is_long: write that it runs before it runs, for people who look meanwhile.
        """
        began_ms = self._clock.now_ms()
        if is_long:
            self._records[name] = StepRecord(name, "running", began_ms, None)
            self._ledger.note_steps(self._task_id, self._token, self.records)
        try:
            with tracing.step(name):
                yield
        except FairlaneError as exc:
            self._records[name] = StepRecord(name, "failed", began_ms, self._clock.now_ms(), f"{exc.code}: {exc}")
            self._ledger.note_steps(self._task_id, self._token, self.records)
            raise
        self._records[name] = StepRecord(name, "done", began_ms, self._clock.now_ms())

    def mark(self, name: str, state: str, reason: str = "") -> None:
        """Set a step that takes no time of its own: skipped with its reason, pending, or done."""
        now_ms = self._clock.now_ms()
        self._records[name] = StepRecord(name, state, now_ms, None if state == "pending" else now_ms, reason)
