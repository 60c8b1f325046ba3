"""The rows that go along with a change of a task; always inside the transaction that proves the token."""

from collections.abc import Sequence
from dataclasses import replace

from peewee import SQL

from models.results import Detection, OcrResult
from models.rows import DetectionRecord, Finished, OcrRecord, StepRecord
from models.tasks import TaskStep
from models.text import storable, storable_json


def put_steps(task_id: str, steps: Sequence[StepRecord]) -> None:
    """Write steps; one of the same name is replaced."""
    if not steps:
        return
    # One statement cannot touch a row twice: of two records of one step the later one counts.
    latest = {step.name: step for step in steps}
    rows = [
        {
            "task": task_id,
            "name": step.name,
            "state": step.state,
            "started_ms": step.started_ms,
            "ended_ms": step.ended_ms,
            "reason": storable(step.reason),
        }
        for step in latest.values()
    ]
    TaskStep.insert_many(rows).on_conflict(
        conflict_target=[TaskStep.task, TaskStep.name],
        preserve=[TaskStep.state, TaskStep.started_ms, TaskStep.ended_ms, TaskStep.reason],
    ).returning(TaskStep.name).execute()


def put_outcome(task_id: str, token: int, outcome: Finished, now_ms: int) -> None:
    """Write what ending a task well writes besides its row and its steps."""
    if outcome.ocr:
        _put_ocr(task_id, token, outcome.ocr, outcome.reuse_key, now_ms)
    _put_detection(task_id, token, outcome.detection, now_ms)


def put_last_steps(task_id: str, steps: Sequence[StepRecord], now_ms: int) -> None:
    """Write the steps of a task that ends well, once its results are written: only then it is known how long the step
    `store` took, all but the commit.
    """
    put_steps(task_id, [replace(step, ended_ms=now_ms) if step.name == "store" else step for step in steps])


def _put_ocr(task_id: str, token: int, record: OcrRecord, reuse_key: str | None, now_ms: int) -> None:
    OcrResult.insert(
        task=task_id,
        token=token,
        text=storable(record.text),
        lines=storable_json(record.lines),
        line_count=record.line_count,
        mean_confidence=record.mean_confidence,
        width_px=record.width_px,
        height_px=record.height_px,
        engine=record.engine,
        model_name=record.model,
        duration_ms=record.duration_ms,
        scale=record.scale,
        tiles=record.tiles,
        direction=record.direction,
        reuse_key=reuse_key,
        reused_from=record.reused_from,
        created_ms=now_ms,
    ).returning(SQL("1")).execute()


def _put_detection(task_id: str, token: int, record: DetectionRecord, now_ms: int) -> None:
    Detection.insert(
        task=task_id,
        token=token,
        text=storable(record.text),
        suggestion=record.suggestion,
        hit_count=len(record.hits),
        hits=storable_json(record.hits),
        contacts=storable_json(record.contacts),
        label=storable(record.label),
        level=record.level,
        score=record.score,
        masked=None if record.masked is None else storable(record.masked),
        elapsed_ms=record.elapsed_ms,
        created_ms=now_ms,
        versions=storable_json(record.versions),
    ).returning(SQL("1")).execute()
