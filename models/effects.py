"""The rows that go along with a change of a task; always inside the transaction that proves the token."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from models.base import BaseModel, Database, bound
from models.changes import GoodEnd
from models.prepared import Bound, Prepared, Slot, run, slots
from models.results import Detection, OcrResult
from models.rows import DetectionRecord, OcrRecord, StepRecord
from models.tasks import TaskStep
from models.text import storable, storable_json

_STEP_COLUMNS = ("task", "name", "state", "started_ms", "ended_ms", "reason")
_DETECTION_COLUMNS = tuple(Detection._meta.fields)


def put_steps(task_id: str, steps: Sequence[StepRecord]) -> None:
    """Write steps of a task; one of the same name is replaced."""
    if steps:
        database = bound()
        run(database, steps_put(database, [(task_id, step) for step in steps]))


def steps_put(database: Database, steps: Sequence[tuple[str, StepRecord]]) -> Bound:
    """The statement that writes steps, at least one, of the tasks with these ids; one of the same name is replaced."""
    # One statement cannot touch a row twice: of two records of one step the later one counts.
    latest = {(task_id, step.name): step for task_id, step in steps}
    rows = [
        (task_id, step.name, step.state, step.started_ms, step.ended_ms, storable(step.reason))
        for (task_id, _), step in latest.items()
    ]
    return _bound_rows(_steps(len(rows)), database, _STEP_COLUMNS, rows)


def outcomes_put(database: Database, ends: Sequence[GoodEnd], now_ms: int) -> list[Bound]:
    """The statements that write what ending these tasks well writes besides their rows and their steps."""
    given = [{"task": end.task_id, "token": end.token, "created_ms": now_ms} for end in ends]
    statements = [
        _OCR.bind(database, {**_ocr_values(end.outcome.ocr, end.outcome.reuse_key), **own})
        for end, own in zip(ends, given, strict=True)
        if end.outcome.ocr
    ]
    detections = [{**_detection_values(end.outcome.detection), **own} for end, own in zip(ends, given, strict=True)]
    rows = [tuple(one[name] for name in _DETECTION_COLUMNS) for one in detections]
    return [*statements, _bound_rows(_detections(len(rows)), database, _DETECTION_COLUMNS, rows)]


@cache
def _steps(count: int) -> Prepared:
    def make() -> Any:
        preserved = [getattr(TaskStep, name) for name in _STEP_COLUMNS[2:]]
        return TaskStep.insert_many(_slot_rows(TaskStep, _STEP_COLUMNS, count)).on_conflict(
            conflict_target=[TaskStep.task, TaskStep.name], preserve=preserved
        )

    return Prepared(make)


@cache
def _detections(count: int) -> Prepared:
    return Prepared(lambda: Detection.insert_many(_slot_rows(Detection, _DETECTION_COLUMNS, count)))


def _slot_rows(table: type[BaseModel], names: Sequence[str], count: int) -> list[dict[str, Slot]]:
    """Rows of slots, one for each column, for a statement that writes several."""
    return [{name: Slot(f"{name} {number}", getattr(table, name)) for name in names} for number in range(count)]


def _bound_rows(
    statement: Prepared, database: Database, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> Bound:
    """A statement whose slots are those of `_slot_rows`, with their values."""
    return statement.bind(
        database,
        {f"{name} {number}": value for number, row in enumerate(rows) for name, value in zip(names, row, strict=True)},
    )


#: Each column has a value, of its own name.
_OCR = Prepared(lambda: OcrResult.insert(**slots(OcrResult._meta.fields)))


def _ocr_values(record: OcrRecord, reuse_key: str | None) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in OcrRecord.__dataclass_fields__ if name != "model"}
    texts = {"text": storable(record.text), "lines": storable_json(record.lines)}
    return {**values, **texts, "model_name": record.model, "reuse_key": reuse_key}


def _detection_values(record: DetectionRecord) -> dict[str, Any]:
    return {
        "text": storable(record.text),
        "suggestion": record.suggestion,
        "hit_count": len(record.hits),
        "hits": storable_json(record.hits),
        "contacts": storable_json(record.contacts),
        "label": storable(record.label),
        "level": record.level,
        "score": record.score,
        "masked": None if record.masked is None else storable(record.masked),
        "elapsed_ms": record.elapsed_ms,
        "versions": storable_json(record.versions),
    }
