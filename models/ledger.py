"""The ledger: what has been accepted, where it stands, and how it ended. A row is the acceptance.

Whoever runs a task writes with the token of its lease, and a write names it in its WHERE: once a newer lease has
written, an older one changes nothing and gets `LeaseLost`. A task ends once; no row that has ended is touched again,
save by a replay (`models/replays.py`), which makes it a new one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast

from peewee import Expression, fn

from models.announcing import Announcing
from models.base import Database, connection, write
from models.changes import GoodEnd, insert_task, rows_of, start_task
from models.dead_letters import put_dead_letters
from models.devices import device_noted
from models.effects import put_steps, steps_put
from models.finishing import Finishing
from models.prepared import run_last
from models.rows import (
    Accepted,
    Begun,
    DetectionRecord,
    Finished,
    NewTask,
    OcrRecord,
    StepRecord,
    TaskRow,
    TaskView,
    task_row,
)
from models.scope import EVERYTHING, Scope
from models.tasks import Task
from models.text import storable
from models.viewing import view_of
from pipeline.clock import Clock
from pipeline.errors import DatabaseUnavailable, FairlaneError, LeaseLost, TaskEnded, TaskNotFound

__all__ = [
    "Accepted",
    "Begun",
    "DetectionRecord",
    "Finished",
    "GoodEnd",
    "Ledger",
    "NewTask",
    "OcrRecord",
    "StepRecord",
    "TaskRow",
    "TaskView",
]

#: Times that a submit may meet a row of its id which is withdrawn before it can be read.
_ACCEPT_TRIES = 3


class Ledger:
    """The tasks of the bound database; call it inside `models.base.connection()`.

    Every method raises `DatabaseUnavailable` when the database does not answer, and has then either written all or
    nothing; which of both, a caller can find out by calling it again.

    Args:
        announcing: what each end announces; usually hits, to whom the request named.
    """

    def __init__(self, database: Database, clock: Clock, announcing: Announcing | None = None) -> None:
        self._database = database
        self._clock = clock
        self._announcing = announcing or Announcing()
        self._finishing = Finishing(database, clock, self._announcing)

    def accept(self, new: NewTask) -> Accepted:
        """Accept a task for good, unless its id is known; then nothing is written and the known row is returned."""
        for _ in range(_ACCEPT_TRIES):
            with write(self._database):
                if row := self._insert(new):
                    return Accepted(row, is_new=True)
                if row := self.get(new.task_id):
                    return Accepted(row, is_new=False)
        raise DatabaseUnavailable(f"task {new.task_id} is being submitted and withdrawn at the same time")

    def withdraw(self, task_id: str) -> bool:
        """Take an acceptance back, unless a lease has written to the task; False when there was nothing to take."""
        with write(self._database):
            deleted = (
                Task.delete()
                .where(Task.task_id == task_id, Task.state == "queued", Task.token == 0)
                .returning(Task.task_id)
                .execute()
            )
            return bool(list(deleted))

    def start(self, task_id: str, token: int, attempt: int) -> TaskRow:
        """Let the lease `token` run the task; from here on every older lease is fenced off.

        Args:
            attempt: its number, from 1; becomes the row's `attempts`.
        Raises: LeaseLost, TaskEnded, TaskNotFound.
        """
        # One statement is a transaction by itself, and takes one round trip.
        with connection(self._database):
            begun = Begun(attempt, self._clock.now_ms())
            return self._granted(start_task(self._database, task_id, token, begun), task_id, token)

    def startable_each(self, leases: Sequence[tuple[str, int]]) -> list[TaskRow | FairlaneError]:
        """Look up tasks, by id and token, for leases that will finish them at once (`begun`), by one query.

        It is not written that they run. Returns: the task, or what `start` would raise.
        """
        with connection(self._database):
            rows = rows_of(self._database, [task_id for task_id, _ in leases])
            return [
                row if (row := rows.get(task_id)) and row.is_startable(token) else self._refusal(task_id, token)
                for task_id, token in leases
            ]

    def note_steps(self, task_id: str, token: int, steps: Sequence[StepRecord]) -> None:
        """Write steps of the task that the lease `token` runs, or has finished.

        Raises: LeaseLost, TaskEnded, TaskNotFound.
        """
        with write(self._database):
            # Writing the row, though nothing changes, keeps a newer lease out until the steps are written.
            fence = (
                Task.update(token=Task.token)
                .where(Task.task_id == task_id, Task.token == token, Task.state.in_(("running", "done")))
                .returning(Task.task_id)
                .execute()
            )
            if not list(fence):
                raise self._refusal(task_id, token)
            put_steps(task_id, steps)

    def finish(self, task_id: str, token: int, outcome: Finished, begun: Begun | None = None) -> None:
        """End the task well: result, detection, steps and state are written together, once.

        Args:
            begun: the attempt, when the task was not started in the ledger: that is done with it.
        Raises: LeaseLost, TaskEnded, TaskNotFound; nothing is written then.
        """
        (error,) = self.finish_each([GoodEnd(task_id, token, outcome, begun)])
        if error is not None:
            raise error

    def finish_each(self, ends: Sequence[GoodEnd]) -> list[Exception | None]:
        """End different tasks well, as `finish` does, in one transaction; return for each what `finish` would raise.

        One that cannot be written costs the others nothing.
        """
        answers = self._finishing.finish(ends)
        return [self._error_of(end, answers.get(end.task_id)) for end in ends]

    def put_back(
        self,
        task_id: str,
        token: int,
        state: Literal["queued", "delayed"],
        code: str,
        reason: str,
        due_ms: int | None,
        steps: Sequence[StepRecord] = (),
    ) -> None:
        """Record that the lease `token` gave the task back: to retry it, to defer it, or unstarted.

        Args:
            due_ms: when a delayed task may run again, epoch ms.
        Raises: LeaseLost, TaskEnded, TaskNotFound.
        """
        with write(self._database):
            self._change(
                task_id,
                token,
                Task.token <= token,
                state=str(state),
                due_ms=due_ms,
                code=code,
                reason=storable(reason),
            )
            put_steps(task_id, steps)

    def end(
        self, task_id: str, token: int, state: str, code: str, message: str, steps: Sequence[StepRecord] = ()
    ) -> None:
        """End the task badly, in the name of the lease `token`: failed or dead.

        Raises: LeaseLost, TaskEnded, TaskNotFound.
        """
        with write(self._database):
            row = self._change(
                task_id,
                token,
                Task.token <= token,
                state=str(state),
                ended_ms=self._clock.now_ms(),
                due_ms=None,
                code=code,
                reason=storable(message),
            )
            put_steps(task_id, steps)
            put_dead_letters([row])
            self._announcing.ended([row])

    def close(self, task_id: str, state: str, code: str, message: str, *, seen_token: int | None = None) -> bool:
        """End a task whoever runs it (expired, evicted, dead, cancelled); False when it has ended or is unknown, or a
        lease or a replay later than `seen_token` has written to it."""
        is_as_seen = Task.ended_ms.is_null() if seen_token is None else Task.token <= seen_token
        with write(self._database):
            closed = (
                Task.update(
                    state=str(state),
                    ended_ms=self._clock.now_ms(),
                    due_ms=None,
                    code=code,
                    reason=storable(message),
                )
                .where(Task.task_id == task_id, Task.ended_ms.is_null(), is_as_seen)
                .returning(Task)
                .execute()
            )
            rows = [task_row(task) for task in closed]
            put_dead_letters(rows)
            self._announcing.ended(rows)
            return bool(rows)

    def get(self, task_id: str) -> TaskRow | None:
        with connection(self._database):
            task = Task.get_or_none(Task.task_id == storable(task_id))
            return task_row(task) if task else None

    def view(self, task_id: str, within: Scope = EVERYTHING) -> TaskView | None:
        """All that is known of one task, with its results once it is done; outside `within` it is as if not there."""
        with connection(self._database):
            # The row first: what ends it writes the results with it, so they are there when it says so.
            row = self.get(task_id)
            return view_of(row) if row and within.covers(row) else None

    def open_tasks(self, after: str | None, limit: int) -> list[TaskRow]:
        """The next `limit` tasks that have not ended, in the order of their ids.

        Args:
            after: the last id of the page before; None for the first page.
        """
        with connection(self._database):
            query = Task.select().where(Task.ended_ms.is_null()).order_by(Task.task_id).limit(limit)
            if after is not None:
                query = query.where(Task.task_id > after)
            return [task_row(task) for task in query]

    def counts(self) -> dict[str, dict[str, int]]:
        """How many tasks of each lane are in each state; a lane or state without any is left out."""
        with connection(self._database):
            query = Task.select(Task.lane, Task.state, fn.COUNT(Task.task_id)).group_by(Task.lane, Task.state)
            counted: dict[str, dict[str, int]] = {}
            counts = cast("Iterable[tuple[str, str, int]]", query.tuples())
            for lane, state, number in counts:
                counted.setdefault(lane, {})[state] = number
            return counted

    def _insert(self, new: NewTask) -> TaskRow | None:
        database = self._database
        row = insert_task(database, new)
        if row is not None:
            step = StepRecord("enqueued", "done", new.created_ms, new.created_ms)
            enqueued = steps_put(database, [(new.task_id, step)])
            run_last(database, enqueued, device_noted(database, new.site, new.mac, new.created_ms))
        return row

    def _change(self, task_id: str, token: int, is_ours: Expression, **changes: Any) -> TaskRow:
        """Change a row that has not ended and is the lease's to change; else raise why not."""
        changed = list(
            Task.update(token=token, **changes)
            .where(Task.task_id == task_id, Task.ended_ms.is_null(), is_ours)
            .returning(Task)
            .execute()
        )
        return self._granted(task_row(changed[0]) if changed else None, task_id, token)

    def _error_of(self, end: GoodEnd, answer: TaskRow | Exception | None) -> Exception | None:
        return None if isinstance(answer, TaskRow) else answer or self._refusal(end.task_id, end.token)

    def _granted(self, row: TaskRow | None, task_id: str, token: int) -> TaskRow:
        """The row that was the lease's to have or change; else raise why it was not."""
        if row is None:
            raise self._refusal(task_id, token)
        return row

    def _refusal(self, task_id: str, token: int) -> FairlaneError:
        row = self.get(task_id)
        if row is None:
            return TaskNotFound(f"no task {task_id}")
        if row.token <= token and row.has_ended:
            return TaskEnded(f"task {task_id} has ended: {row.state}", state=row.state)
        return LeaseLost(f"task {task_id}: lease {token} is over, the ledger is at {row.token}")
