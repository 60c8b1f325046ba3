"""The rows that go along with a change of a task; always inside the transaction that proves the token."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from models.base import Database, bound
from models.prepared import Bound, Prepared, Slot, run, slots
from models.results import Detection, OcrResult
from models.rows import DetectionRecord, Finished, OcrRecord, StepRecord
from models.tasks import TaskStep
from models.text import storable, storable_json

_STEP_COLUMNS = ("state", "started_ms", "ended_ms", "reason")


def put_steps(task_id: str, steps: Sequence[StepRecord]) -> None:
    """Write steps; one of the same name is replaced."""
    if steps:
        database = bound()
        run(database, steps_put(database, task_id, steps))


def steps_put(database: Database, task_id: str, steps: Sequence[StepRecord]) -> Bound:
    """The statement that writes steps, at least one; one of the same name is replaced."""
    # One statement cannot touch a row twice: of two records of one step the later one counts.
    latest = {step.name: step for step in steps}
    values: dict[str, Any] = {"task": task_id}
    for number, step in enumerate(latest.values()):
        given = (step.name, step.state, step.started_ms, step.ended_ms, storable(step.reason))
        values.update(zip(_step_slots(number), given, strict=True))
    return _steps(len(latest)).bind(database, values)


def outcome_put(database: Database, task_id: str, token: int, outcome: Finished, now_ms: int) -> list[Bound]:
    """The statements that write what ending a task well writes besides its row and its steps."""
    given = {"task": task_id, "token": token, "created_ms": now_ms}
    detection = _DETECTION.bind(database, {**_detection_values(outcome.detection), **given})
    if outcome.ocr is None:
        return [detection]
    read = _ocr_values(outcome.ocr, outcome.reuse_key)
    return [_OCR.bind(database, {**read, **given}), detection]


def last_steps(steps: Sequence[StepRecord], now_ms: int) -> list[StepRecord]:
    """The steps of a task that ends well; `store` lasts until its row is written, all but the last round trip."""
    return [replace(step, ended_ms=now_ms) if step.name == "store" else step for step in steps]


@cache
def _steps(count: int) -> Prepared:
    def make() -> Any:
        columns = (TaskStep.name, *(getattr(TaskStep, name) for name in _STEP_COLUMNS))
        rows = [
            {"task": Slot("task", TaskStep.task)}
            | {column.name: Slot(slot, column) for slot, column in zip(_step_slots(number), columns, strict=True)}
            for number in range(count)
        ]
        return TaskStep.insert_many(rows).on_conflict(
            conflict_target=[TaskStep.task, TaskStep.name], preserve=list(columns[1:])
        )

    return Prepared(make)


@cache
def _step_slots(number: int) -> tuple[str, ...]:
    """The slots of one row of several."""
    return tuple(f"{name} {number}" for name in ("name", *_STEP_COLUMNS))


#: Each column of either has a value, of its own name.
_OCR = Prepared(lambda: OcrResult.insert(**slots(OcrResult._meta.fields)))
_DETECTION = Prepared(lambda: Detection.insert(**slots(Detection._meta.fields)))


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
