"""Worker processes killed while they hold tasks: how long until each task runs again."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event

from models.ledger import Ledger
from pipeline.clock import SystemClock
from pipeline.errors import ConfigurationError
from pipeline.queue import Counters, Task
from pipeline.scheduler.expire import expire
from pipeline.scheduler.loop import Duty, Loop
from pipeline.scheduler.promote import promote
from pipeline.scheduler.reap import reap
from pipeline.scheduler.resume import resume
from pipeline.simulation.live.outcome import LiveBound, LiveOutcome, quantile
from pipeline.simulation.live.plan import Plan
from pipeline.simulation.live.worker import Site, working
from pipeline.simulation.server import ScriptedQueue, tied

#: The scheduler's sweep and tick, as in production.
_SWEEP_MS, _TICK_S = 1_000, 0.5
#: After the promise is broken by so much, seconds, nobody waits for the rest.
GRACE_S = 30


def measure_killed_workers(site: Site, plan: Plan) -> LiveOutcome:
    """Kill workers at different times after their last renewal; time each task from the kill to its next start."""
    queue, clock = ScriptedQueue(site.url, site.rules, None), SystemClock()
    count = plan.holders * plan.held
    queue.fill([Task(f"t{number}", "text", f"{number:012x}", 0) for number in range(count)])
    killed_us: dict[str, int] = {}
    started_us: dict[str, int] = {}
    all_started = Event()

    def run_again(task_id: str) -> None:
        started_us[task_id] = clock.monotonic_us()
        if len(started_us) == count:
            all_started.set()

    with _holding(site, plan) as holders, working(site, run_again, threads=2), _keeping_house(queue, site.ledger()):
        for process, task_ids in holders:
            Event().wait(plan.renew_s / plan.holders)
            process.kill()
            killed_us |= dict.fromkeys(task_ids, clock.monotonic_us())
        all_started.wait(plan.lease_s + GRACE_S)
        end_us = clock.monotonic_us()
    # One that has not run again has waited until the end.
    waits_s = [(started_us.get(task_id, end_us) - since) / 1e6 for task_id, since in killed_us.items()]
    bound = LiveBound(
        "killed worker -> its task runs again, p99",
        "rerun_p99_s",
        f"{plan.holders} workers with {plan.held} tasks each",
        plan.lease_s,
        quantile(waits_s, 0.99),
        " s",
        f"p50 {quantile(waits_s, 0.5):.1f} s",
    )
    return LiveOutcome("live killed worker", "Workers killed while they hold tasks", (bound,), len(waits_s))


@contextmanager
def _holding(site: Site, plan: Plan) -> Iterator[list[tuple["subprocess.Popen[str]", list[str]]]]:
    """Start the worker processes; yield each with the tasks it has begun."""
    rules = (site.rules.policy, str(site.rules.lease_ms))
    command = [*tied(), sys.executable, "-m", "pipeline.simulation.live.holder"]
    command += [site.url, site.database_url, *rules, str(plan.renew_s), str(plan.held)]
    with ExitStack() as stack:
        processes = []
        for _ in range(plan.holders):
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            processes.append(process)
        yield [(process, [_next_line(process) for _ in range(plan.held)]) for process in processes]


def _next_line(process: "subprocess.Popen[str]") -> str:
    line = process.stdout.readline().strip() if process.stdout else ""
    if not line:
        raise ConfigurationError(f"a worker process of the simulation ended by itself, with {process.wait()}")
    return line


@contextmanager
def _keeping_house(queue: ScriptedQueue, ledger: Ledger) -> Iterator[None]:
    """Do the scheduler's duties for the queue in a thread, at its periods."""
    counters = Counters(queue.server, queue.keys, is_timed=False)
    duties = [
        Duty("resume", 0, partial(resume, queue)),
        Duty("promote", 0, partial(promote, queue)),
        Duty("reap", _SWEEP_MS, partial(reap, queue, ledger, counters)),
        Duty("expire", 0, partial(expire, queue, ledger)),
    ]
    loop = Loop(duties, SystemClock(), tick_s=_TICK_S)
    thread = threading.Thread(target=loop.run, name="scheduler")
    log = logging.getLogger(reap.__module__)
    # Every reaped task is worth a warning, but not where it is what was asked for.
    was_disabled, log.disabled = log.disabled, True
    thread.start()
    try:
        yield
    finally:
        loop.stop()
        thread.join()
        log.disabled = was_disabled
