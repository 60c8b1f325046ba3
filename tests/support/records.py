"""Values to put into the ledger, and a look at everything that is in it."""

from dataclasses import replace
from typing import Any

from models.audit import AuditLine
from models.base import BaseModel
from models.dead_letter_rows import DeadLetter
from models.devices import Device
from models.keys import ApiKey
from models.ledger import DetectionRecord, Finished, NewTask, OcrRecord, StepRecord
from models.reports import DetectorReport
from models.results import Detection, OcrResult
from models.sites import Site
from models.statistics import DailyCount, DailyWait
from models.tasks import Task, TaskStep
from models.totals import DurationTotal, EndTotal
from models.webhook_delivery import WebhookDelivery
from models.word_lists import WordContent, WordEpoch, WordList, WordVersion

TABLES: tuple[type[BaseModel], ...] = (
    Site,
    ApiKey,
    Device,
    Task,
    TaskStep,
    OcrResult,
    Detection,
    DetectorReport,
    DeadLetter,
    AuditLine,
    DailyCount,
    DailyWait,
    EndTotal,
    DurationTotal,
    WordList,
    WordContent,
    WordVersion,
    WordEpoch,
    WebhookDelivery,
)

_NEW_TASK = NewTask(
    task_id="t1",
    lane="ocr",
    mac="aabbccddeeff",
    site="local",
    content_hash="0" * 64,
    payload={"object": "images/2025/10/09/t1", "words": ["forbidden"]},
    size_bytes=2048,
    detection_id=None,
    created_ms=1_760_000_000_000,
)


def new_task(task_id: str = "t1", **changes: Any) -> NewTask:
    return replace(_NEW_TASK, task_id=task_id, **changes)


def step(name: str, state: str = "done", reason: str = "") -> StepRecord:
    return StepRecord(name, state, 1_760_000_000_000, None if state == "running" else 1_760_000_000_500, reason)


def finished(text: str = "line one\nline two", **changes: Any) -> Finished:
    """An outcome with one hit, all of whose texts are `text`."""
    return Finished(
        **{
            "ocr": OcrRecord(
                text=text,
                lines=[{"text": text, "confidence": 0.5, "box": [[0, 0], [9, 0], [9, 4], [0, 4]]}],
                line_count=1,
                mean_confidence=0.5,
                width_px=640,
                height_px=480,
                engine="rapid",
                model="small",
                duration_ms={"decode": 3, "read": 40},
            ),
            "detection": DetectionRecord(text, "block", [{"word": "one", "surface": text, "start": 5, "end": 8}]),
            "steps": [step("fetch"), step("ocr"), step("screen"), step("store")],
            "run_ms": 1234,
            **changes,
        }
    )


def everything() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, for comparing before and after."""
    return {
        table.__name__: sorted(table.select().dicts(), key=lambda row: sorted(map(repr, row.items())))
        for table in TABLES
    }
