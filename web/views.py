"""Turn what the parts know into answers."""

import dataclasses

from models.ledger import TaskView
from pipeline.queue import Explanation, TaskState
from web.answers import OcrAnswer, StepAnswer, TaskAnswer, TaskDetectionAnswer, TaskFault, WaitAnswer


def task_answer(view: TaskView, waits: Explanation | None) -> TaskAnswer:
    row = view.task
    return TaskAnswer(
        task_id=row.task_id,
        mac=row.mac,
        lane=row.lane,
        state=row.state,
        attempts=row.attempts,
        created_ms=row.created_ms,
        started_ms=row.started_ms,
        ended_ms=row.ended_ms,
        due_ms=row.due_ms,
        steps=[StepAnswer(**dataclasses.asdict(step)) for step in view.steps],
        ocr=OcrAnswer(**dataclasses.asdict(view.ocr)) if view.ocr else None,
        detection=_detection_answer(view),
        error=TaskFault(code=row.code, message=row.reason or "") if row.code else None,
        position=waits.ahead_in_line + 1 if waits and waits.state is TaskState.QUEUED else None,
        waiting=WaitAnswer(**dataclasses.asdict(waits)) if waits else None,
    )


def _detection_answer(view: TaskView) -> TaskDetectionAnswer | None:
    if view.detection is None:
        return None
    found = dataclasses.asdict(view.detection)
    return TaskDetectionAnswer.model_validate(found if view.ocr is None else {**found, "text": None})
