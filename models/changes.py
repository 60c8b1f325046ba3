"""What every task writes of its own row: accepted, started, finished; as statements that are made once."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from peewee import Query

from models.base import Database
from models.prepared import Prepared, Slot, slots
from models.rows import NewTask, TaskRow
from models.tasks import Task
from models.text import storable_json

_COLUMNS = tuple(TaskRow.__dataclass_fields__)
_PAYLOAD = _COLUMNS.index("payload")


def _insert() -> Query:
    given = slots({name: getattr(Task, name) for name in NewTask.__dataclass_fields__})
    return Task.insert(state="queued", **given).on_conflict_ignore().returning(*_returned())


def _start() -> Query:
    token = Slot("token", Task.token)
    is_ours = (Task.token < token) | ((Task.token == token) & (Task.state == "running"))
    changes = slots({"attempts": Task.attempts, "started_ms": Task.started_ms})
    return _update(is_ours, state="running", token=token, due_ms=None, code="", reason="", **changes)


def _finish() -> Query:
    token = Slot("token", Task.token)
    is_ours = (Task.token == token) & (Task.state == "running")
    changes = slots({"ended_ms": Task.ended_ms, "run_ms": Task.run_ms, "has_hit": Task.has_hit})
    return _update(is_ours, state="done", **changes)


def _update(is_ours: Any, **changes: Any) -> Query:
    is_open = (Task.task_id == Slot("task_id", Task.task_id)) & Task.ended_ms.is_null()
    return Task.update(**changes).where(is_open, is_ours).returning(*_returned())


def _returned() -> list[Any]:
    return [getattr(Task, name) for name in _COLUMNS]


_INSERT, _START, _FINISH = Prepared(_insert), Prepared(_start), Prepared(_finish)


def insert_task(database: Database, new: NewTask) -> TaskRow | None:
    """Write the row of a task; None when there is one of its id."""
    return _row(_INSERT.rows(database, {**asdict(new), "payload": storable_json(new.payload)}))


def start_task(database: Database, task_id: str, token: int, attempt: int, now_ms: int) -> TaskRow | None:
    """Let a lease run the task; None when the row is not the lease's to start."""
    values = {"task_id": task_id, "token": token, "attempts": attempt, "started_ms": now_ms}
    return _row(_START.rows(database, values))


def finish_task(database: Database, task_id: str, token: int, **values: Any) -> TaskRow | None:
    """End a task well; None when the lease does not run it.

    Args:
        values: `ended_ms`, `run_ms`, `has_hit`.
    """
    return _row(_FINISH.rows(database, {"task_id": task_id, "token": token, **values}))


def _row(found: Sequence[tuple[Any, ...]]) -> TaskRow | None:
    if not found:
        return None
    values = list(found[0])
    payload: Any = Task.payload
    values[_PAYLOAD] = payload.python_value(values[_PAYLOAD])
    return TaskRow(*values)
