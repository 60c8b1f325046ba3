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
from pipeline.queue.counters import Counters
from pipeline.queue.device_states import DeviceState, LineState, Listed
from pipeline.queue.explaining import Explanation, Reason
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.history import History, Sample
from pipeline.queue.inspect import Inspector
from pipeline.queue.layout import StoredLayout
from pipeline.queue.opening import (
    find_layout,
    has_shards,
    open_consumer_queue,
    open_counters,
    open_history,
    open_inspector,
    open_pages,
    open_pulse,
    open_queue,
    open_request_limits,
    open_roster,
    open_standstill,
)
from pipeline.queue.pages import PAGE_MAX, Pages
from pipeline.queue.pulse import Pulse
from pipeline.queue.reading import fact_numbers, fact_values
from pipeline.queue.request_limits import Bucket, Level, RequestLimits
from pipeline.queue.roster import Roster
from pipeline.queue.rules import Rules
from pipeline.queue.standstill import TOO_LONG_MS, Standstill, is_held, standstill_words
from pipeline.queue.types import (
    ENDS,
    LANES,
    TASK_LANES,
    Claim,
    DeviceRules,
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
    "PAGE_MAX",
    "QUEUE_NAMES",
    "TASK_LANES",
    "TOO_LONG_MS",
    "Bucket",
    "Claim",
    "Counters",
    "DeviceRules",
    "DeviceState",
    "Ended",
    "Enqueued",
    "Entry",
    "Explanation",
    "FairQueue",
    "History",
    "Inspector",
    "Lane",
    "LaneBooks",
    "LaneStatus",
    "LaneSurvey",
    "Level",
    "LineState",
    "Listed",
    "Mark",
    "Needs",
    "OpenTask",
    "Pages",
    "Pulse",
    "QueuedTask",
    "Reason",
    "RequestLimits",
    "Roster",
    "Rules",
    "Sample",
    "Standing",
    "Standstill",
    "Started",
    "StoredLayout",
    "Task",
    "TaskState",
    "WorkerView",
    "fact_numbers",
    "fact_values",
    "find_layout",
    "has_shards",
    "has_slots_by_lane",
    "is_held",
    "lanes_served",
    "open_consumer_queue",
    "open_counters",
    "open_history",
    "open_inspector",
    "open_pages",
    "open_pulse",
    "open_queue",
    "open_request_limits",
    "open_roster",
    "open_standstill",
    "serving",
    "slots_in",
    "standstill_words",
]
