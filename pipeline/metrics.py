"""Every metric that `/metrics` exports, declared once.

No label names a device, task, host or site: what a label may say is a short list, so the number of series does not grow
with the work. `docs/reference/metrics.md` prints the table; nothing is exported that is not here.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """One family.

    Args:
        name: as it is exported; a counter ends in `_total`.
        labels: names, in the order in which values are given.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    what: str
    labels: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What its name says it is measured in: seconds, bytes, or nothing for plain numbers."""
        words = self.name.removesuffix("_total").rpartition("_")
        return words[2] if words[2] in ("seconds", "bytes") else ""


#: In the order of their declaration.
METRICS: list[Metric] = []


def _declared(kind: Literal["counter", "gauge", "histogram"], name: str, what: str, labels: tuple[str, ...]) -> Metric:
    METRICS.append(Metric(f"fairlane_{name}", kind, what, labels))
    return METRICS[-1]


def _gauge(name: str, what: str, *labels: str) -> Metric:
    return _declared("gauge", name, what, labels)


def _counter(name: str, what: str, *labels: str) -> Metric:
    return _declared("counter", f"{name}_total", what, labels)


def _histogram(name: str, what: str, *labels: str) -> Metric:
    return _declared("histogram", f"{name}_seconds", what, labels)


# The service.
UP = _gauge("up", "1 if the part answered this scrape; scheduler: 1 if it has published a watermark of late", "part")
BUILD_INFO = _gauge("build_info", "1, with the version of the process that was scraped", "version")
CLOCK_SKEW = _gauge(
    "clock_skew_seconds",
    "how far a clock is ahead of the queue's; worker: that of the live worker whose clock is furthest off",
    "clock",
)

# The queue, as it is now.
WAITING_TASKS = _gauge("waiting_tasks", "tasks in line", "lane")
DELAYED_TASKS = _gauge("delayed_tasks", "tasks put back for later: deferred, or waiting for their next attempt", "lane")
RUNNING_TASKS = _gauge("running_tasks", "tasks that workers hold", "lane")
OLDEST_WAIT = _gauge("oldest_wait_seconds", "how long the task that has waited longest has waited", "lane")
STANDSTILL = _gauge(
    "standstill_seconds",
    "how long tasks have waited that could be served now, while nothing ran and nothing was claimed",
    "lane",
)
WAITING_DEVICES = _gauge("waiting_devices", "devices with tasks in line", "lane")
STARVED_DEVICES = _gauge(
    "starved_devices", "devices that could be served and have waited too long; 200 are looked at", "lane"
)
PAUSED_DEVICES = _gauge("paused_devices", "devices that are paused, whether they have tasks or not")
BACKING_OFF_DEVICES = _gauge("backing_off_devices", "devices whose lane waits for a backoff or a rate limit to end")
FULL_DEVICES = _gauge("full_devices", "devices at their own limit of pending tasks")
PENDING_TASKS = _gauge("pending_tasks", "tasks waiting, delayed and running, as the limit counts them")
PENDING_TASKS_LIMIT = _gauge("pending_tasks_limit", "pending tasks at which the service is full")
QUEUED_TASKS = _counter("queued_tasks", "tasks put in line since the data set of the queue began", "lane")

# The server behind it.
QUEUE_MEMORY = _gauge("queue_memory_bytes", "memory of the Redis or Valkey: used, and limit (0: none)", "kind")
QUEUE_MAY_EVICT = _gauge("queue_may_evict", "1 if the server may throw data away when it is full")
QUEUE_IS_PERSISTENT = _gauge("queue_is_persistent", "1 if the server keeps an append-only file")

# Workers.
WORKERS = _gauge("workers", "live worker processes by a lane that they serve and their engine", "lane", "engine")
GPU_WORKERS = _gauge("gpu_workers", "live worker processes that compute on a GPU", "lane")
HELD_WORKERS = _gauge("held_workers", "live worker processes that claim nothing of the lane now", "lane")
HEARTBEAT_AGE = _gauge(
    "worker_heartbeat_age_seconds", "how long ago that live worker was heard of which was heard of longest ago", "lane"
)
SLOTS = _gauge("slots", "tasks that live workers can run at once: effective, of which active and idle", "lane", "state")
DESIRED_WORKERS = _gauge("desired_workers", "workers that the last watermark asks for", "lane")
EXPECTED_WAIT = _gauge("expected_wait_seconds", "until all that waits is done; missing while nobody can do it", "lane")
WATERMARK_AGE = _gauge("watermark_age_seconds", "how long ago the scheduler published its last watermark")

# The ledger.
TALLY_LAG = _gauge("tally_lag_seconds", "how long ago the oldest task ended that is not in the counters below")
DEAD_LETTERS = _gauge("dead_letters", "dead letters that are kept; 10,000 means so many or more")
DELIVERIES = _gauge("deliveries", "announcements by state; 10,000 means so many or more", "state")
OLDEST_DELIVERY = _gauge("oldest_pending_delivery_seconds", "how long the oldest announcement has not been delivered")
TASK_ENDS = _counter("task_ends", "ends of tasks", "lane", "outcome")
TASKS_WITH_HITS = _counter("tasks_with_hits", "tasks in which something was found", "lane")
HITS = _counter("hits", "how much was found", "lane")
DELIVERY_ENDS = _counter("delivery_ends", "announcements delivered or given up", "outcome")
WAIT = _histogram("wait", "from acceptance to the start of the last attempt, of tasks that have ended", "lane")
RUN = _histogram("run", "of the attempt that ended a task well", "lane")
TASK = _histogram("task", "from acceptance to the end, whatever the end", "lane")
STAGE = _histogram(
    "stage", "of one step; notify: from the end of a task to the delivery of its announcement", "lane", "stage"
)

# What no table holds: batched in each process, written to the queue's server every second.
REFUSALS = _counter("refusals", "submits and other requests refused for want of room or of a part", "reason")
RETRIES = _counter("retries", "attempts that failed and are repeated", "lane", "reason")
DEFERS = _counter("defers", "tasks put back for later without an attempt", "lane", "reason")
HAND_BACKS = _counter("hand_backs", "tasks put back to the head of their line without an attempt", "lane", "reason")
LEASES_LOST = _counter("leases_lost", "leases of which a worker learnt that they were no longer its own", "lane")
REAPED_TASKS = _counter("reaped_tasks", "tasks taken back because their lease ran out", "lane", "outcome")
LEDGER_REPAIRS = _counter("ledger_repairs", "tasks that ledger and queue disagreed about, put right", "kind")
ENGINE_FAILURES = _counter("engine_failures", "OCR engines that an image cost", "reason")
GPU_FALLBACKS = _counter("gpu_fallbacks", "times a worker's GPU failed and its images were read on the CPU")
DELIVERY_ATTEMPTS = _counter("delivery_attempts", "attempts to deliver an announcement", "outcome")
HTTP_REQUESTS = _counter("http_requests", "requests answered, by template of their route", "method", "route", "status")
HTTP_REQUEST = _histogram("http_request", "until the answer began; long polls with their wait", "method", "route")
