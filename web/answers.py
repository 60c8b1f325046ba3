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
    left_out: int = Field(description="lines that were found and not read, since the image has more than are allowed")


class HitAnswer(Answer):
    """A sensitive word; `start` and `end` count code points, the others UTF-16 units, both in the original text."""

    word: str
    list: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str


class DetectionAnswer(Answer):
    suggestion: str
    hits: list[HitAnswer]


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
    detection: DetectionAnswer | None
    error: TaskFault | None
    position: int | None = Field(description="in its device's line, from 1; null when it does not wait there")
    waiting: WaitAnswer | None = Field(description="why it waits; null when it does not")


class ReportAnswer(Answer):
    mac: str
    detection_id: str
    is_new: bool


class LaneAnswer(Answer):
    lane: str
    waiting: int
    delayed: int
    leased: int
    devices: int
    oldest_wait_ms: int


class LanesAnswer(Answer):
    lanes: list[LaneAnswer]


class WorkerAnswer(Answer):
    """One live worker process; null is what its entry does not say."""

    hostname: str
    pid: int | None
    queues: str = Field(description="its lanes, with commas between")
    state: str = Field(description="working, or held: it claims nothing now")
    holds: list[str] = Field(description="why it claims nothing now")
    last_heartbeat: int | None = Field(description="epoch ms")
    heartbeat_age_ms: int | None = Field(description="milliseconds since it was last heard of")
    declared_concurrency: int | None = Field(description="threads")
    effective_concurrency: int | None = Field(description="tasks that can really run at once")
    active_tasks: int | None
    idle_slots: int | None
    engine: str
    gpu_available: bool
    gpu_util: float | None = Field(description="percent")
    gpu_memory_util: float | None = Field(description="percent")
    cpu_count: float | None = Field(description="processors it may use; a quota makes it a fraction")
    cpu_percent: float | None
    cpu_others_percent: float | None = Field(description="without fairlane's own processes")
    memory_total: int | None = Field(description="bytes")
    memory_available: int | None = Field(description="bytes")
    memory_percent: float | None
    version: str


class WorkersAnswer(Answer):
    workers: list[WorkerAnswer]


class SlotsAnswer(Answer):
    """Tasks of one lane that can run at once on hosts that are not over a watermark."""

    effective: int
    active: int
    idle: int


class WatermarkLane(Answer):
    """One lane in a snapshot."""

    waiting: int
    delayed: int
    leased: int
    devices: int
    oldest_wait_ms: int
    starved_devices: int = Field(description="that could be served and have waited too long; 200 are looked at")
    capable_workers: int = Field(description="live workers that have what the lane needs")
    workers: int = Field(description="live workers that serve the lane now: all that name it during a downgrade")
    busy_workers: int
    held_hosts: list[str] = Field(description="hosts that are over a watermark")
    is_downgraded: bool = Field(description="workers without a GPU serve the lane though it needs one")
    slots: SlotsAnswer
    drain_per_s: float = Field(description="tasks that end, of about the last minute")
    cost_ms: float = Field(description="worker-milliseconds of one task, measured")
    work_ms: float = Field(description="worker-milliseconds that wait or are in flight")
    expected_wait_ms: int | None = Field(description="until all that is done; null while nobody can do it")
    desired_workers: int


class WatermarkAnswer(Answer):
    """The last snapshot of the scheduler; `timestamp` is epoch ms."""

    timestamp: int
    total_pending: int
    mac_count: int
    active_workers: int
    target_wait_ms: int = Field(description="expected wait that desired_workers aims at")
    lanes: dict[str, WatermarkLane]


class ScaleLane(Answer):
    """What an autoscaler should know of one lane."""

    desired_workers: int
    workers: int
    busy_workers: int
    slots: int
    waiting: int
    delayed: int
    in_flight: int
    work_seconds: float
    expected_wait_seconds: float | None = Field(description="null while nobody can do the work")


class ScaleAnswer(Answer):
    """Workers wanted by lane; `timestamp` is epoch ms."""

    timestamp: int
    target_wait_seconds: float
    lanes: dict[str, ScaleLane]


class HealthAnswer(Answer):
    status: str
