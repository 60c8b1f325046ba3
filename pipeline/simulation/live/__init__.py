"""The bounds that no virtual clock can show: commands, cost and waits, on a real Valkey with real workers."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import models.base
from models.migrate import migrate
from pipeline.clock import SystemClock
from pipeline.queue.rules import Rules, lease_ms_of
from pipeline.simulation.live.bare import measure_against_bare
from pipeline.simulation.live.cost import measure_commands
from pipeline.simulation.live.killed import measure_killed_workers
from pipeline.simulation.live.outcome import LiveBound, LiveOutcome
from pipeline.simulation.live.plan import TINY, Plan
from pipeline.simulation.live.waits import measure_freed_to_next, measure_submit_to_start
from pipeline.simulation.live.worker import Site
from pipeline.simulation.order import Policy

__all__ = ["TINY", "LiveBound", "LiveOutcome", "Plan", "measure_live"]


def measure_live(url: str, plan: Plan, policy: Policy) -> Iterator[LiveOutcome]:
    """Measure one subject after the other, each given as soon as it is there; the server at `url` is emptied."""
    rules = Rules(policy=policy, max_total=10**9, max_per_mac=10**9, lease_ms=lease_ms_of(plan.lease_s))
    with tempfile.TemporaryDirectory(prefix="fairlane-live-") as folder:
        site = Site(url, f"sqlite:///{Path(folder) / 'fairlane.db'}", rules, plan.renew_s)
        migrate(models.base.connect(site.database_url))
        yield _timed(lambda: measure_commands(url, rules, plan))
        yield _timed(lambda: measure_against_bare(url, rules, plan))
        yield _timed(lambda: measure_submit_to_start(site, plan))
        yield _timed(lambda: measure_freed_to_next(site, plan))
        yield _timed(lambda: measure_killed_workers(site, plan))


def _timed(measure: Callable[[], LiveOutcome]) -> LiveOutcome:
    stopwatch = SystemClock()
    begun_ms = stopwatch.monotonic_ms()
    outcome = measure()
    return replace(outcome, took_ms=stopwatch.monotonic_ms() - begun_ms)
