"""How long a task waits for an idle worker, and a freed slot for its next task, in real time."""

from itertools import pairwise
from queue import SimpleQueue
from threading import Event

from pipeline.clock import SystemClock
from pipeline.queue import Task
from pipeline.simulation.live.outcome import LiveBound, LiveOutcome, quantile
from pipeline.simulation.live.plan import Plan
from pipeline.simulation.live.worker import Site, working
from pipeline.simulation.server import ScriptedQueue

#: Seconds after which a task that has not started is given up.
_PATIENCE_S = 30


def measure_submit_to_start(site: Site, plan: Plan) -> LiveOutcome:
    """Submit texts one by one to an idle worker: from before the enqueue to the first line of the work."""
    queue, clock = ScriptedQueue(site.url, site.rules, None), SystemClock()
    started: SimpleQueue[int] = SimpleQueue()
    waits_ms = []
    with working(site, lambda _: started.put(clock.monotonic_us()), threads=1):
        for number in range(plan.submits):
            Event().wait(plan.pause_s)
            submitted_us = clock.monotonic_us()
            queue.enqueue(Task(f"t{number}", "text", f"{number % 100:012x}", 0))
            waits_ms.append((started.get(timeout=_PATIENCE_S) - submitted_us) / 1000)
    name = "submit -> start with an idle worker"
    bounds = (
        LiveBound(f"{name}, p50", "wait_p50_ms", "text", 10, quantile(waits_ms, 0.5), " ms"),
        LiveBound(f"{name}, p99", "wait_p99_ms", "text", 50, quantile(waits_ms, 0.99), " ms"),
    )
    return LiveOutcome("live submit to start", "A lone text beside an idle worker", bounds, len(waits_ms))


def measure_freed_to_next(site: Site, plan: Plan) -> LiveOutcome:
    """Time one slot with work waiting: from the last line of one task's work to the first line of the next one's.

    The completion of the first, the next claim and its start lie in between. Of images, since a slot that does several
    texts holds the next one already.
    """
    queue, clock = ScriptedQueue(site.url, site.rules, None), SystemClock()
    queue.fill([Task(f"t{number}", "ocr", f"{number % 50:012x}", 0) for number in range(plan.backlog)])
    begun_us: list[int] = []
    all_begun = Event()

    def work(_: str) -> None:
        begun_us.append(clock.monotonic_us())
        if len(begun_us) == plan.backlog:
            all_begun.set()

    with working(site, work, threads=1, lane="ocr"):
        if not all_begun.wait(_PATIENCE_S + plan.backlog / 10):
            raise TimeoutError(f"only {len(begun_us)} of {plan.backlog} tasks were begun")
    # The work does nothing: it ends where it begins.
    gaps_ms = [(later - earlier) / 1000 for earlier, later in pairwise(begun_us)]
    bound = LiveBound(
        "freed slot -> next task started, p50",
        "gap_p50_ms",
        "image",
        5,
        quantile(gaps_ms, 0.5),
        " ms",
        f"p99 {quantile(gaps_ms, 0.99):.1f} ms",
    )
    return LiveOutcome("live freed slot", "One slot, work waiting", (bound,), len(gaps_ms))
