"""What every task writes of its own row: accepted, started, finished; as statements that are made once.

PERF: each `UPDATE` that changes `state` writes into every index of the table, so a text is started and finished by one,
and the ends of several tasks are one statement (docs/why/performance.md).
"""

from collections.abc import Sequence
from contextvars import Context, copy_context
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from peewee import Query, ValuesList

from models.base import Database
from models.prepared import Prepared, Slot, row_values, slot_rows, slots
from models.rows import Begun, Finished, NewTask, TaskRow
from models.tasks import Task

_COLUMNS = tuple(TaskRow.__dataclass_fields__)
_PAYLOAD = _COLUMNS.index("payload")
_STARTED = {"attempts": Task.attempts, "started_ms": Task.started_ms}
_ENDED = {"ended_ms": Task.ended_ms, "run_ms": Task.run_ms, "has_hit": Task.has_hit}
#: What a task leaves behind that waited for another attempt.
_WAITS_NO_MORE = {"due_ms": None, "code": "", "reason": ""}


@dataclass(frozen=True, slots=True)
class GoodEnd:
    """How a lease ends its task well.

    Args:
        begun: the attempt, when the ledger was not told of its start: that is done with the end.
        context: whose span an announcement goes on from; where this was made, if not given.
    """

    task_id: str
    token: int
    outcome: Finished
    begun: Begun | None = None
    context: Context = field(default_factory=copy_context)


def _insert() -> Query:
    given = slots({name: getattr(Task, name) for name in NewTask.__dataclass_fields__})
    return Task.insert(state="queued", **given).on_conflict_ignore().returning(*_returned())


def _start() -> Query:
    token = Slot("token", Task.token)
    is_ours = (Task.task_id == Slot("task_id", Task.task_id)) & _is_startable(token)
    changes = Task.update(state="running", token=token, **slots(_STARTED), **_WAITS_NO_MORE)
    return changes.where(is_ours).returning(*_returned())


@cache
def _select(count: int) -> Prepared:
    def make() -> Query:
        wanted = [row["task_id"] for row in slot_rows({"task_id": Task.task_id}, count)]
        return Task.select(*_returned()).where(Task.task_id.in_(wanted))

    return Prepared(make)


@cache
def _finish(count: int, is_begun: bool) -> Prepared:
    """The ends of so many tasks, which were started, or are started by it."""
    columns = {"task_id": Task.task_id, "token": Task.token, **_ENDED, **(_STARTED if is_begun else {})}

    def make() -> Query:
        rows = [list(row.values()) for row in slot_rows(columns, count)]
        given: Any = ValuesList(rows).cte("given", columns=tuple(columns))
        changes = {name: given.c[name] for name in columns if name != "task_id"}
        is_running = (Task.token == given.c.token) & (Task.state == "running")
        is_ours = _is_startable(given.c.token) if is_begun else Task.ended_ms.is_null() & is_running
        update = Task.update(state="done", **changes, **(_WAITS_NO_MORE if is_begun else {})).from_(given)
        return update.where((Task.task_id == given.c.task_id) & is_ours).returning(*_returned()).with_cte(given)

    return Prepared(make)


def _is_startable(token: Any) -> Any:
    """Open, and no newer lease has written; a lease that gave the task back may not go on with it."""
    return Task.ended_ms.is_null() & ((Task.token < token) | ((Task.token == token) & (Task.state == "running")))


def _returned() -> list[Any]:
    return [getattr(Task, name) for name in _COLUMNS]


_INSERT, _START = Prepared(_insert), Prepared(_start)


def insert_task(database: Database, new: NewTask) -> TaskRow | None:
    """Write the row of a task; None when there is one of its id."""
    rows = _rows(_INSERT.rows(database, asdict(new)))
    return rows.get(new.task_id)


def start_task(database: Database, task_id: str, token: int, begun: Begun) -> TaskRow | None:
    """Let a lease run the task; None when the row is not the lease's to start."""
    values = {"task_id": task_id, "token": token, "attempts": begun.attempt, "started_ms": begun.started_ms}
    return _rows(_START.rows(database, values)).get(task_id)


def rows_of(database: Database, task_ids: Sequence[str]) -> dict[str, TaskRow]:
    """The rows of these tasks, by id; one that there is not is left out. One query."""
    wanted = row_values([{"task_id": task_id} for task_id in task_ids])
    return _rows(_select(len(task_ids)).rows(database, wanted))


def finish_tasks(database: Database, ends: Sequence[GoodEnd], ended_ms: int) -> dict[str, TaskRow]:
    """End different tasks well; return the rows of those whose lease runs them, or may start them, by id."""
    rows: dict[str, TaskRow] = {}
    for is_begun in (True, False):
        if some := [_values(end, ended_ms) for end in ends if (end.begun is not None) == is_begun]:
            rows |= _rows(_finish(len(some), is_begun).rows(database, row_values(some)))
    return rows


def _values(end: GoodEnd, ended_ms: int) -> dict[str, Any]:
    outcome, begun = end.outcome, end.begun
    ended = {"ended_ms": ended_ms, "run_ms": outcome.run_ms, "has_hit": bool(outcome.detection.hits)}
    started = {"attempts": begun.attempt, "started_ms": begun.started_ms} if begun else {}
    return {"task_id": end.task_id, "token": end.token, **ended, **started}


def _rows(found: Sequence[tuple[Any, ...]]) -> dict[str, TaskRow]:
    rows = {}
    payload: Any = Task.payload
    for one in found:
        values = list(one)
        values[_PAYLOAD] = payload.python_value(values[_PAYLOAD])
        row = TaskRow(*values)
        rows[row.task_id] = row
    return rows
