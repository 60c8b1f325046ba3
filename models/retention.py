"""What is old enough to go: tasks with all that hangs on them, reports of devices, dead letters, deliveries."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from peewee import Expression, fn

from models.base import BaseModel, Database, connection, write
from models.dead_letter_rows import DeadLetter
from models.dead_letters import DEAD_STATES
from models.reports import DetectorReport
from models.tasks import Task
from models.webhook_delivery import WebhookDelivery

#: Rows deleted in one transaction: it holds the write lock of SQLite for some tens of milliseconds.
_BATCH = 500


class Ending(NamedTuple):
    """Where a task stands; `ended_ms` (epoch ms) is None while it is open."""

    state: str
    ended_ms: int | None

    @property
    def may_run_again(self) -> bool:
        """It is open, or could be replayed: its image is needed."""
        return self.ended_ms is None or self.state in DEAD_STATES


class Retention:
    """Deletes by age, the oldest first, some hundred rows a call. Every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def delete_tasks(self, before_ms: int) -> int:
        """Delete tasks that ended before, with their steps and results; return how many.

        One that is not counted yet stays until it is, and one that has a dead letter for as long as that is there.
        """
        letters = DeadLetter.select(DeadLetter.id).where(DeadLetter.task_id == Task.task_id)
        is_old = Task.is_counted & (Task.ended_ms < before_ms) & ~fn.EXISTS(letters)
        oldest = Task.select(Task.task_id).where(is_old).order_by(Task.ended_ms).limit(_BATCH)
        return self._delete(Task, Task.task_id.in_(oldest))

    def delete_letters(self, before_ms: int) -> int:
        """Delete dead letters of tasks that died before; return how many."""
        # Of the oldest some hundred only: a look that finds nothing must not read the whole table.
        oldest = DeadLetter.select(DeadLetter.id).order_by(DeadLetter.id).limit(_BATCH)
        return self._delete(DeadLetter, DeadLetter.id.in_(oldest) & (DeadLetter.dead_ms < before_ms))

    def delete_deliveries(self, before_ms: int) -> int:
        """Delete deliveries of announcements that ended before; return how many."""
        oldest = WebhookDelivery.select(WebhookDelivery.id).order_by(WebhookDelivery.id).limit(_BATCH)
        return self._delete(WebhookDelivery, WebhookDelivery.id.in_(oldest) & (WebhookDelivery.ended_ms < before_ms))

    def delete_reports(self, before_ms: int) -> int:
        """Delete reports of devices that came before; return how many."""
        with connection(self._database):
            query = DetectorReport.select(DetectorReport.created_ms).order_by(DetectorReport.created_ms)
            times = [report.created_ms for report in query.limit(_BATCH) if report.created_ms < before_ms]
        return self._delete(DetectorReport, DetectorReport.created_ms <= times[-1]) if times else 0

    def endings(self, task_ids: Sequence[str]) -> dict[str, Ending]:
        """Where each of these tasks stands; one that the ledger does not have is left out. One query."""
        with connection(self._database):
            query = Task.select(Task.task_id, Task.state, Task.ended_ms).where(Task.task_id.in_(list(task_ids)))
            rows = cast("Iterable[tuple[str, str, int | None]]", query.tuples())
            return {task_id: Ending(state, ended_ms) for task_id, state, ended_ms in rows}

    def _delete(self, table: type[BaseModel], which: Expression) -> int:
        with write(self._database):
            return int(table.delete().where(which).execute())
