"""All that is known of one task, put together."""

from models.results import Detection, OcrResult
from models.rows import TaskRow, TaskView, detection_record, ocr_record, step_record
from models.tasks import STEP_NAMES, TaskStep


def view_of(row: TaskRow) -> TaskView:
    """The task with its steps, and with its results once it is done; call it inside `models.base.connection()`."""
    steps = [step_record(step) for step in TaskStep.select().where(TaskStep.task == row.task_id)]
    is_done = row.state == "done"
    ocr = OcrResult.get_or_none(OcrResult.task == row.task_id) if is_done else None
    detection = Detection.get_or_none(Detection.task == row.task_id) if is_done else None
    return TaskView(
        task=row,
        steps=tuple(sorted(steps, key=lambda step: STEP_NAMES.index(step.name))),
        ocr=ocr_record(ocr) if ocr else None,
        detection=detection_record(detection) if detection else None,
    )
