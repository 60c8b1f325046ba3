"""What every task writes of its own row: accepted, started, finished; as statements that are made once.

PERF: each `UPDATE` that changes `state` writes into every index of the table, so a text is started and finished by one
(docs/why/performance.md).
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from peewee import Query

from models.base import Database
from models.prepared import Prepared, Slot, slots
from models.rows import Begun, Finished, NewTask, TaskRow
from models.tasks import Task
from models.text import storable_json

_COLUMNS = tuple(TaskRow.__dataclass_fields__)
_PAYLOAD = _COLUMNS.index("payload")


def _insert() -> Query:
    given = slots({name: getattr(Task, name) for name in NewTask.__dataclass_fields__})
    return Task.insert(state="queued", **given).on_conflict_ignore().returning(*_returned())


def _look() -> Query:
    return Task.select(*_returned()).where(_is_startable())


def _start() -> Query:
    return _update(_is_startable(), state="running", **_started())


def _finish() -> Query:
    is_ours = (Task.token == _token()) & (Task.state == "running")
    return _update(_is_open() & is_ours, state="done", token=_token(), **_finished())


def _finish_at_once() -> Query:
    return _update(_is_startable(), state="done", **_started(), **_finished())


def _started() -> dict[str, Any]:
    changes = slots({"attempts": Task.attempts, "started_ms": Task.started_ms})
    return {**changes, "token": _token(), "due_ms": None, "code": "", "reason": ""}


def _finished() -> dict[str, Any]:
    return dict(slots({"ended_ms": Task.ended_ms, "run_ms": Task.run_ms, "has_hit": Task.has_hit}))


def _is_startable() -> Any:
    """Open, and no newer lease has written; a lease that gave the task back may not go on with it."""
    is_begun = (Task.token == _token()) & (Task.state == "running")
    return _is_open() & ((Task.token < _token()) | is_begun)


def _is_open() -> Any:
    return (Task.task_id == Slot("task_id", Task.task_id)) & Task.ended_ms.is_null()


def _token() -> Slot:
    return Slot("token", Task.token)


def _update(is_ours: Any, **changes: Any) -> Query:
    return Task.update(**changes).where(is_ours).returning(*_returned())


def _returned() -> list[Any]:
    return [getattr(Task, name) for name in _COLUMNS]


_INSERT, _LOOK, _START = Prepared(_insert), Prepared(_look), Prepared(_start)
_FINISH, _FINISH_AT_ONCE = Prepared(_finish), Prepared(_finish_at_once)


def insert_task(database: Database, new: NewTask) -> TaskRow | None:
    """Write the row of a task; None when there is one of its id."""
    return _row(_INSERT.rows(database, {**asdict(new), "payload": storable_json(new.payload)}))


def startable_task(database: Database, task_id: str, token: int) -> TaskRow | None:
    """The row of a task that a lease may start; None when it may not."""
    return _row(_LOOK.rows(database, {"task_id": task_id, "token": token}))


def start_task(database: Database, task_id: str, token: int, begun: Begun) -> TaskRow | None:
    """Let a lease run the task; None when the row is not the lease's to start."""
    return _row(_START.rows(database, {"task_id": task_id, "token": token, **_begun_values(begun)}))


def finish_task(
    database: Database, task_id: str, token: int, outcome: Finished, ended_ms: int, begun: Begun | None
) -> TaskRow | None:
    """End a task well; None when the lease does not run it, or, when it was not started, may not start it."""
    values = {"task_id": task_id, "token": token, "ended_ms": ended_ms}
    values |= {"run_ms": outcome.run_ms, "has_hit": bool(outcome.detection.hits)}
    if begun is None:
        return _row(_FINISH.rows(database, values))
    return _row(_FINISH_AT_ONCE.rows(database, {**values, **_begun_values(begun)}))


def _begun_values(begun: Begun) -> dict[str, int]:
    return {"attempts": begun.attempt, "started_ms": begun.started_ms}


def _row(found: Sequence[tuple[Any, ...]]) -> TaskRow | None:
    if not found:
        return None
    values = list(found[0])
    payload: Any = Task.payload
    values[_PAYLOAD] = payload.python_value(values[_PAYLOAD])
    return TaskRow(*values)
