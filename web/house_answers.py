"""The bodies of answers about the house: lanes, workers, snapshots, health."""

from pydantic import Field

from web.answers import Answer


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
    word_faults: list[str] = Field(description="lists of words that it cannot load, and why")


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


class MeAnswer(Answer):
    """Who asks."""

    actor: str = Field(description="as the audit names them")
    role: str
    site: str | None = Field(description="null: of every site")
    macs: list[str] | None = Field(description="the devices that the key is bound to; null: every device of the site")
    may: list[str] = Field(description="what they may do: open, own, submit, read, house, act or manage")
    version: str


class AlarmAnswer(Answer):
    """One thing that is wrong; each code has its words in the dashboard."""

    severity: str = Field(description="critical or warning")
    code: str
    subject: str = Field(description="what it is wrong with: a lane, a host; empty for the whole")
    detail: str


class AlarmsAnswer(Answer):
    alarms: list[AlarmAnswer] = Field(description="the critical first; none: all is well")
