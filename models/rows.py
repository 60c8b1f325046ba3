"""What goes into the ledger and what comes out: frozen values without a database behind them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.results import Detection, OcrResult
from models.tasks import Task, TaskStep


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be accepted.

    Args:
        content_hash: SHA-256 of what was submitted, 64 hexadecimal digits.
        payload: what the worker needs, JSON.
        callback_url: where its end is announced; None when the request named nothing.
        image_sha256: of the file as it came, 64 lowercase hexadecimal digits; None for a text.
        traceparent: of the span that hands it in; None when no trace is written.
    """

    task_id: str
    lane: str
    mac: str
    site: str
    content_hash: str
    payload: dict[str, Any]
    size_bytes: int
    detection_id: str | None
    created_ms: int
    callback_url: str | None = field(default=None, repr=False)
    image_sha256: str | None = None
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A row of the ledger; times in epoch ms, None when not yet.

    Args:
        token: of the newest lease that wrote here, 0 before the first.
        run_ms: how long the attempt that ended it ran.
    """

    task_id: str
    lane: str
    mac: str
    site: str
    state: str
    token: int
    attempts: int
    content_hash: str
    payload: dict[str, Any]
    size_bytes: int
    detection_id: str | None
    code: str
    reason: str
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    due_ms: int | None
    run_ms: int | None
    callback_url: str | None = field(default=None, repr=False)
    traceparent: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.ended_ms is not None

    def is_startable(self, token: int) -> bool:
        """Say whether a lease may run it: no newer one has written, and a lease that gave it back may not go on."""
        is_begun = self.token == token and self.state == "running"
        return not self.has_ended and (self.token < token or is_begun)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to `Ledger.accept`.

    Args:
        is_new: False when the id was known; `task` is then what the ledger has, and nothing was written.
    """

    task: TaskRow
    is_new: bool


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step: `state` is pending, running, done, failed or skipped; times in epoch ms."""

    name: str
    state: str
    started_ms: int | None
    ended_ms: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OcrRecord:
    """What was read; each line is `{"text", "confidence", "box"}`, its box in pixels of the upright original.

    Args:
        duration_ms: of each stage.
        scale, tiles, direction: how the engine saw the image, as `pipeline.ocr.types.OcrResult` says.
        reused_from: the task whose reading this is, since the same image came before; None when this one's was read.
    """

    text: str
    lines: list[dict[str, Any]]
    line_count: int
    mean_confidence: float
    width_px: int
    height_px: int
    engine: str
    model: str
    duration_ms: dict[str, int]
    scale: float = 1.0
    tiles: int = 1
    direction: str = "right"
    reused_from: str | None = None


@dataclass(frozen=True, slots=True)
class DetectionRecord:
    """What was found in `text`.

    Args:
        label: of the gravest find, as `level`, 0 when there is none.
        score: 0..1.
        masked: the text with what must not be shown hidden; None when that is nothing.
        versions: the lists it went by, each with scope, name and version.
    """

    text: str
    suggestion: str
    hits: list[dict[str, Any]]
    contacts: list[dict[str, Any]] = field(default_factory=list)
    label: str = ""
    level: int = 0
    score: float = 0.0
    masked: str | None = None
    elapsed_ms: int = 0
    versions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Begun:
    """An attempt that has begun, of which the ledger has not been told.

    Args:
        attempt: its number, from 1.
        started_ms: when, epoch ms.
    """

    attempt: int
    started_ms: int


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything that ending a task well writes.

    Args:
        ocr: None for a task that came as text.
        reuse_key: under which the reading can be found again (`Readings.earlier`); None when it is not to be.
    """

    ocr: OcrRecord | None
    detection: DetectionRecord
    steps: Sequence[StepRecord]
    run_ms: int
    reuse_key: str | None = None


@dataclass(frozen=True, slots=True)
class TaskView:
    """All that is known of one task; results only once it is done."""

    task: TaskRow
    steps: tuple[StepRecord, ...]
    ocr: OcrRecord | None
    detection: DetectionRecord | None


def task_row(task: Task) -> TaskRow:
    return TaskRow(**{name: getattr(task, name) for name in TaskRow.__dataclass_fields__})


def step_record(step: TaskStep) -> StepRecord:
    return StepRecord(step.name, step.state, step.started_ms, step.ended_ms, step.reason)


def ocr_record(result: OcrResult) -> OcrRecord:
    fields = {name: getattr(result, name) for name in OcrRecord.__dataclass_fields__ if name != "model"}
    return OcrRecord(**fields, model=result.model_name)


def detection_record(detection: Detection) -> DetectionRecord:
    fields = {name: getattr(detection, name) for name in DetectionRecord.__dataclass_fields__}
    return DetectionRecord(**{**fields, "contacts": detection.contacts or [], "versions": detection.versions or []})
