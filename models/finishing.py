"""Ending tasks well: what is ended together is one transaction.

PERF: the ends of eight tasks cost the database two fifths of what eight ends cost, and their process a seventh
(docs/why/performance.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from models.announcing import Announcing
from models.base import Database, write
from models.changes import GoodEnd, finish_tasks
from models.effects import outcomes_put, steps_put
from models.prepared import run_last
from models.rows import StepRecord, TaskRow
from pipeline.clock import Clock
from pipeline.errors import DatabaseUnavailable


class Finishing:
    """Writes good ends.

    Args:
        announcing: what each end announces.
    """

    def __init__(self, database: Database, clock: Clock, announcing: Announcing) -> None:
        self._database = database
        self._clock = clock
        self._announcing = announcing

    def finish(self, ends: Sequence[GoodEnd]) -> Mapping[str, TaskRow | Exception]:
        """Write result, detection, steps and state of different tasks, in one transaction.

        When that fails by one of them, each is written by itself: it is to cost the others nothing.

        Returns: by id the row as it is now, or why there is none; nothing for a task that is not the lease's to end.
        """
        try:
            return self._finish(ends)
        except Exception as exc:  # noqa: BLE001 - each end has its own
            if len(ends) == 1 or isinstance(exc, DatabaseUnavailable):
                return dict.fromkeys((end.task_id for end in ends), exc)
        return {task_id: answer for end in ends for task_id, answer in self.finish([end]).items()}

    def _finish(self, ends: Sequence[GoodEnd]) -> dict[str, TaskRow]:
        now_ms = self._clock.now_ms()
        with write(self._database):
            # In the order of their ids, so that two processes never wait for each other's rows in a circle.
            rows = finish_tasks(self._database, sorted(ends, key=lambda end: end.task_id), now_ms)
            if written := [end for end in ends if end.task_id in rows]:
                steps = [(end.task_id, step) for end in written for step in self._steps(end, rows[end.task_id])]
                results = outcomes_put(self._database, written, now_ms)
                run_last(self._database, *results, steps_put(self._database, steps))
        return rows

    def _steps(self, end: GoodEnd, row: TaskRow) -> list[StepRecord]:
        """The steps of a task that ends well; `store` lasts until its row is written, all but the last round trip."""
        outcome, now_ms = end.outcome, self._clock.now_ms()
        told = end.context.run(self._announcing.finished, row, outcome)
        return [*(replace(step, ended_ms=now_ms) if step.name == "store" else step for step in outcome.steps), told]
