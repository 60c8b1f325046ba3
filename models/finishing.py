"""Ending tasks well: what threads end at the same time is one transaction.

PERF: the ends of eight tasks cost the database two fifths of what eight ends cost, and their process a seventh
(docs/why/performance.md).
"""

from collections.abc import Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, replace

from models.announcing import Announcing
from models.base import Database, write
from models.changes import GoodEnd, finish_tasks
from models.effects import outcomes_put, steps_put
from models.prepared import run_last
from models.rows import StepRecord, TaskRow
from pipeline.clock import Clock
from pipeline.together import Together

#: Ends that share a transaction.
_MOST = 32


@dataclass(frozen=True, slots=True)
class _Asked:
    """An end and the context of the thread that brings it: its span is the one that an announcement goes on from."""

    end: GoodEnd
    context: Context


class Finishing:
    """Writes good ends, each wholly or not at all.

    Args:
        announcing: what each end announces.
    """

    def __init__(self, database: Database, clock: Clock, announcing: Announcing) -> None:
        self._database = database
        self._clock = clock
        self._announcing = announcing
        self._together = Together(self._finish, _MOST)

    def finish(self, end: GoodEnd) -> TaskRow | None:
        """Write result, detection, steps and state; return the row, or None when the task is not the lease's to end."""
        return self._together(_Asked(end, copy_context()))

    def _finish(self, asked: Sequence[_Asked]) -> list[TaskRow | None]:
        newest = {one.end.task_id: one for one in sorted(asked, key=lambda one: one.end.token)}
        now_ms = self._clock.now_ms()
        with write(self._database):
            # In the order of their ids, so that two processes never wait for each other's rows in a circle.
            rows = finish_tasks(self._database, [newest[task_id].end for task_id in sorted(newest)], now_ms)
            written = [(newest[task_id], row) for task_id, row in rows.items()]
            if written:
                steps = [(one.end.task_id, step) for one, row in written for step in self._steps(one, row)]
                results = outcomes_put(self._database, [one.end for one, _ in written], now_ms)
                run_last(self._database, *results, steps_put(self._database, steps))
        return [rows.get(one.end.task_id) if newest[one.end.task_id] is one else None for one in asked]

    def _steps(self, asked: _Asked, row: TaskRow) -> list[StepRecord]:
        """The steps of a task that ends well; `store` lasts until its row is written, all but the last round trip."""
        outcome, now_ms = asked.end.outcome, self._clock.now_ms()
        told = asked.context.run(self._announcing.finished, row, outcome)
        return [*(replace(step, ended_ms=now_ms) if step.name == "store" else step for step in outcome.steps), told]
