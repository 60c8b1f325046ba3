"""Ending tasks well: what is ended together is one transaction.

PERF: the ends of eight tasks cost the database two fifths of what eight ends cost, and their process a seventh
(docs/why/performance.md).
"""

from collections.abc import Sequence
from dataclasses import replace

from models.announcing import Announcing
from models.base import Database, write
from models.changes import GoodEnd, finish_tasks
from models.effects import outcomes_put, steps_put
from models.prepared import run_last
from models.rows import StepRecord, TaskRow
from pipeline.clock import Clock


class Finishing:
    """Writes good ends, all or none.

    Args:
        announcing: what each end announces.
    """

    def __init__(self, database: Database, clock: Clock, announcing: Announcing) -> None:
        self._database = database
        self._clock = clock
        self._announcing = announcing

    def finish(self, ends: Sequence[GoodEnd]) -> dict[str, TaskRow]:
        """Write result, detection, steps and state of different tasks; return the rows by id, without those of tasks
        that are not the lease's to end.
        """
        now_ms = self._clock.now_ms()
        with write(self._database):
            # In the order of their ids, so that two processes never wait for each other's rows in a circle.
            rows = finish_tasks(self._database, sorted(ends, key=lambda end: end.task_id), now_ms)
            written = [end for end in ends if end.task_id in rows]
            if written:
                steps = [(end.task_id, step) for end in written for step in self._steps(end, rows[end.task_id])]
                run_last(
                    self._database, *outcomes_put(self._database, written, now_ms), steps_put(self._database, steps)
                )
        return rows

    def _steps(self, end: GoodEnd, row: TaskRow) -> list[StepRecord]:
        """The steps of a task that ends well; `store` lasts until its row is written, all but the last round trip."""
        outcome, now_ms = end.outcome, self._clock.now_ms()
        told = end.context.run(self._announcing.finished, row, outcome)
        return [*(replace(step, ended_ms=now_ms) if step.name == "store" else step for step in outcome.steps), told]
