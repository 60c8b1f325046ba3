"""The bodies of answers."""

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Base of all answers: what is not declared here is not said, though a stored result may know it."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Accepted(Answer):
    """A task that was accepted, now or before."""

    task_id: str
    state: str
    is_duplicate: bool
    mac: str
    lane: str
    position: int | None = Field(description="in its device's line, from 1; null when it does not wait")


class FieldFault(Answer):
    """One thing that is wrong, and where."""

    pointer: str = Field(description="RFC 6901 JSON pointer, or the name of a query parameter")
    detail: str


class ProblemAnswer(Answer):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: list[FieldFault] = []
    retry_after: int | None = Field(None, description="seconds; as the Retry-After header")


class BatchItem(Answer):
    """The answer to one task of a batch: exactly one of task and problem is there."""

    index: int
    status: int
    task: Accepted | None = None
    problem: ProblemAnswer | None = None


class BatchAnswer(Answer):
    """The answers to a batch, in its order."""

    accepted: int
    refused: int
    results: list[BatchItem]


class WaitAnswer(Answer):
    """Why a task waits, and for how long."""

    reason: str = Field(
        description="runnable, behind_own_tasks, behind_other_devices, paused, capped, rate_limited, deferred, delayed "
        "or no_capable_worker"
    )
    until_ms: int | None = Field(description="when the device may be served again, or the task is due; epoch ms")
    ahead_in_line: int = Field(description="tasks of its own device that stand before it")
    devices_ahead: int = Field(description="devices whose turn comes first")
    wait_ms: int | None = Field(description="estimated wait until it starts; null when nobody can say")


class StepAnswer(Answer):
    name: str
    state: str
    started_ms: int | None
    ended_ms: int | None
    reason: str


class LineAnswer(Answer):
    """One line of text; the box is in pixels of the upright original, clockwise from where the text begins."""

    text: str
    confidence: float
    box: list[tuple[int, int]]


class OcrAnswer(Answer):
    """What was read in an image."""

    text: str
    lines: list[LineAnswer]
    line_count: int
    mean_confidence: float
    width_px: int
    height_px: int
    engine: str
    model: str
    duration_ms: dict[str, int] = Field(description="of each stage: decode, find, read")
    scale: float = Field(description="of the image the engine saw, against the original; above 1 where it was enlarged")
    tiles: int = Field(description="parts in which the image was searched; 0: it is blank, or too thin to hold text")
    direction: str = Field(description="where most lines run to, in the image as it came: right, down, left or up")
    reused_from: str | None = Field(description="the task whose reading this is, since the same image came before")


class SegmentAnswer(Answer):
    """The part of a hit in one line; `start` and `end` count code points of that line."""

    line: int
    start: int
    end: int
    box: list[tuple[float, float]] | None = Field(description="corners in px of the upright original, approximate")


class HitAnswer(Answer):
    """A sensitive word; `start` and `end` count code points, the others UTF-16 units, both in the original text."""

    word: str
    list: str = Field(description="request, device, site or global")
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str
    kind: str = Field("word", description="word, combination or regex; of the latter two `word` is the id of the rule")
    category: str = ""
    level: int = Field(3, description="1 to 4")
    action: str = Field("block", description="block, review, mask or tag")
    tags: tuple[str, ...] = ()
    list_name: str = Field("", description="of the list that has it; empty for a word of the request")
    segments: tuple[SegmentAnswer, ...] = Field((), description="the hit line by line, in text read from an image")


class ContactAnswer(Answer):
    """A way to reach somebody; spans as of a hit."""

    kind: str = Field(description="phone_cn, id_card, bank_card, email, url, qq or wechat")
    value: str = Field(description="in plain digits and small letters, without separators")
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str
    level: int
    action: str


class ListVersionAnswer(Answer):
    """A list that a text was screened by."""

    scope: str = Field(description="global, site or device")
    name: str
    version: int = Field(description="0 for a list in a file of the host, which has no versions")


class DetectionAnswer(Answer):
    """What was found in a text."""

    suggestion: str = Field(description="block, review or pass")
    hits: list[HitAnswer]
    contacts: list[ContactAnswer] = []
    label: str = Field("", description="category of the gravest find")
    level: int = Field(0, description="of the gravest find, 1 to 4; 0: nothing was found")
    score: float = Field(0.0, description="0 to 1")
    masked: str | None = Field(None, description="the text with hits made *; null when nothing had to be hidden")
    elapsed_ms: int = Field(0, description="milliseconds that the screening took")
    versions: list[ListVersionAnswer] = Field([], description="the lists that it went by")


class TaskDetectionAnswer(DetectionAnswer):
    """What was found in the text of a task."""

    text: str | None = Field(description="that the spans count in; null for an image, whose text stands in ocr")


class TaskFault(Answer):
    """Why a task ended badly or is put back."""

    code: str
    message: str


class TaskAnswer(Answer):
    """A task; times are epoch milliseconds."""

    task_id: str
    mac: str
    lane: str
    state: str
    attempts: int
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    due_ms: int | None
    steps: list[StepAnswer]
    ocr: OcrAnswer | None
    detection: TaskDetectionAnswer | None
    error: TaskFault | None
    position: int | None = Field(description="in its device's line, from 1; null when it does not wait there")
    waiting: WaitAnswer | None = Field(description="why it waits; null when it does not")


class ReportAnswer(Answer):
    mac: str
    detection_id: str
    is_new: bool
