"""How soon the dashboard is there, with a million tasks behind it: `make bench-dashboard`, or `--tiny`.

A browser opens the overview and the list of tasks, each in a new profile that has nothing stored; told are the first
paint, and when the figures of the page are there. Web and scheduler as the Procfile starts them, SQLite and PostgreSQL.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, sync_playwright

import models.base
from benchmarks.many_tasks import fill
from benchmarks.printing import machine, spread, table
from models.base import connection
from models.migrate import migrate
from models.pool import patience
from tests.support.browsing import Look, Visit, start_chromium
from tests.support.dashboard import Dashboard
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_postgres, started_valkey

#: Seconds that filling a database may take.
_FILL_S = 3_600
#: ms within which a page must be there, else the run ends.
_PATIENCE_MS = 60_000
_FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
#: Page -> what is there once its figures are.
_PAGES = {
    "overview": ("#/", "table tbody tr"),
    "tasks": ("#/tasks", "table tbody tr"),
    "tasks with hits": ("#/tasks?hit=true", "table tbody tr"),
    "devices": ("#/devices?show=all", "table tbody tr"),
    "dead letters": ("#/dead-letters", "main h1"),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        tasks: in each database; of 10,000 MACs.
        rounds: visits of each page.
    """

    tasks: int = 1_000_000
    rounds: int = 7


TINY = Plan(tasks=2_000, rounds=1)


def run(plan: Plan, browser: Browser) -> Iterator[str]:
    """Measure both databases; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        postgres, valkey = stack.enter_context(started_postgres()), stack.enter_context(started_valkey())
        yield machine(f"chromium {browser.version}")
        yield f"plan      {plan.tasks:,} tasks; median (least–most) of {plan.rounds} visits, ms\n"
        yield from _measured("SQLite", f"sqlite:///{folder / 'fairlane.db'}", valkey.url, browser, plan)
        with made_database(postgres.url) as url:
            yield from _measured("PostgreSQL", url, valkey.url, browser, plan)


def _measured(name: str, url: str, redis_url: str, browser: Browser, plan: Plan) -> Iterator[str]:
    database = models.base.connect(url)
    migrate(database)
    models.base.bind(database)
    with connection(), patience(_FILL_S):
        fill(database, plan.tasks)
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        dashboard = Dashboard(Path(folder), redis_url, database_url=url)
        try:
            rows = [[page, *_visited(browser, dashboard, *_PAGES[page], plan.rounds)] for page in _PAGES]
        finally:
            dashboard.stop()
            close_all(database)
    yield f"**{name}**\n\n" + table(["page", "first paint, ms", "figures, ms"], rows) + "\n"


def _visited(browser: Browser, dashboard: Dashboard, address: str, sign: str, rounds: int) -> list[str]:
    paints, figures = [], []
    for _ in range(rounds):
        visit = Visit(browser, dashboard.base_url, Look())
        begun = perf_counter()
        visit.page.goto(f"{dashboard.base_url}/{address}", wait_until="commit")
        visit.page.wait_for_selector(sign, timeout=_PATIENCE_MS)
        figures.append((perf_counter() - begun) * 1000)
        paints.append(float(visit.page.evaluate(_FIRST_PAINT)))
        visit.close()
    return [spread(paints), spread(figures)]


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a run of some seconds, which means nothing")
    plan = TINY if parser.parse_args().tiny else Plan()
    with sync_playwright() as playwright:
        browser = start_chromium(playwright)
        for piece in run(plan, browser):
            print(piece, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
