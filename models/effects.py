"""The rows that go along with a change of a task; always inside the transaction that proves the token."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from models.base import Database, bound
from models.changes import GoodEnd
from models.prepared import Bound, Prepared, row_values, run, slot_rows, slots
from models.results import Detection, OcrResult
from models.rows import DetectionRecord, OcrRecord, StepRecord
from models.tasks import TaskStep
from models.text import storable

#: What of a step is written as it is.
_STEP_KEPT = ("name", "state", "started_ms", "ended_ms")


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
        {**{name: getattr(step, name) for name in _STEP_KEPT}, "task": task_id, "reason": storable(step.reason)}
        for (task_id, _), step in latest.items()
    ]
    return _steps(len(rows)).bind(database, row_values(rows))


def outcomes_put(database: Database, ends: Sequence[GoodEnd], now_ms: int) -> list[Bound]:
    """The statements that write what ending these tasks well writes besides their rows and their steps."""
    ocr, detections = [], []
    for end in ends:
        given = {"task": end.task_id, "token": end.token, "created_ms": now_ms}
        detections.append({**_detection_values(end.outcome.detection), **given})
        if end.outcome.ocr:
            ocr.append(_OCR.bind(database, {**_ocr_values(end.outcome.ocr, end.outcome.reuse_key), **given}))
    return [*ocr, _detections(len(ends)).bind(database, row_values(detections))]


@cache
def _steps(count: int) -> Prepared:
    fields = TaskStep._meta.fields
    changed = [field for name, field in fields.items() if name not in ("task", "name")]
    return Prepared(
        lambda: TaskStep.insert_many(slot_rows(fields, count)).on_conflict(
            conflict_target=[TaskStep.task, TaskStep.name], preserve=changed
        )
    )


@cache
def _detections(count: int) -> Prepared:
    return Prepared(lambda: Detection.insert_many(slot_rows(Detection._meta.fields, count)))


#: Each column has a value, of its own name.
_OCR = Prepared(lambda: OcrResult.insert(**slots(OcrResult._meta.fields)))


def _ocr_values(record: OcrRecord, reuse_key: str | None) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in OcrRecord.__dataclass_fields__ if name != "model"}
    texts = {"text": storable(record.text), "lines": record.lines}
    return {**values, **texts, "model_name": record.model, "reuse_key": reuse_key}


def _detection_values(record: DetectionRecord) -> dict[str, Any]:
    return {
        "text": storable(record.text),
        "suggestion": record.suggestion,
        "hit_count": len(record.hits),
        "hits": record.hits,
        "contacts": record.contacts,
        "label": storable(record.label),
        "level": record.level,
        "score": record.score,
        "masked": None if record.masked is None else storable(record.masked),
        "elapsed_ms": record.elapsed_ms,
        "versions": record.versions,
    }
