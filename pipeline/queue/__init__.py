"""The fair queue: the only code that talks to Redis, usable alone."""

from pipeline.queue.capability import (
    CPU_ONLY,
    QUEUE_NAMES,
    Entry,
    Needs,
    has_slots_by_lane,
    lanes_served,
    serving,
    slots_in,
)
from pipeline.queue.explaining import Explanation, Reason
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.inspect import Inspector
from pipeline.queue.layout import StoredLayout
from pipeline.queue.opening import (
    find_layout,
    has_shards,
    open_consumer_queue,
    open_inspector,
    open_pages,
    open_queue,
    open_request_limits,
    open_roster,
)
from pipeline.queue.pages import Pages
from pipeline.queue.request_limits import Bucket, Level, RequestLimits
from pipeline.queue.roster import Roster
from pipeline.queue.rules import Rules
from pipeline.queue.types import (
    ENDS,
    LANES,
    TASK_LANES,
    Claim,
    Ended,
    Enqueued,
    Lane,
    LaneBooks,
    LaneStatus,
    LaneSurvey,
    Mark,
    OpenTask,
    QueuedTask,
    Standing,
    Started,
    Task,
    TaskState,
)
from pipeline.queue.worker_view import WorkerView

__all__ = [
    "CPU_ONLY",
    "ENDS",
    "LANES",
    "QUEUE_NAMES",
    "TASK_LANES",
    "Bucket",
    "Claim",
    "Ended",
    "Enqueued",
    "Entry",
    "Explanation",
    "FairQueue",
    "Inspector",
    "Lane",
    "LaneBooks",
    "LaneStatus",
    "LaneSurvey",
    "Level",
    "Mark",
    "Needs",
    "OpenTask",
    "Pages",
    "QueuedTask",
    "Reason",
    "RequestLimits",
    "Roster",
    "Rules",
    "Standing",
    "Started",
    "StoredLayout",
    "Task",
    "TaskState",
    "WorkerView",
    "find_layout",
    "has_shards",
    "has_slots_by_lane",
    "lanes_served",
    "open_consumer_queue",
    "open_inspector",
    "open_pages",
    "open_queue",
    "open_request_limits",
    "open_roster",
    "serving",
    "slots_in",
]
