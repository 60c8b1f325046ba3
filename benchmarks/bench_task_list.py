"""How long the first page of a list of tasks takes, by filter: `make bench-task-list`, or `--tiny`.

A million tasks of 10,000 devices and 20 sites in SQLite and in PostgreSQL; one in a thousand failed, one in fifty has a
hit, a hundred wait. Each question is that of `GET /api/ocr/tasks`, with what was found in its 50 tasks; the plan says
which index the database walks, and whether it sorts.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from time import perf_counter
from typing import Any

import models.base
from benchmarks.many_tasks import START_MS, fill
from benchmarks.printing import machine, spread, table
from models.base import Database, connection, sqlite_path
from models.migrate import migrate
from models.pool import patience
from models.scope import Scope
from models.task_lists import Place, TaskLists, Wanted
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_postgres

#: Seconds that filling a database may take.
_FILL_S = 3_600
#: Tasks of a page that the dashboard shows.
_PAGE = 50


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        tasks: in each database.
        rounds: how often each question is asked.
    """

    tasks: int = 1_000_000
    rounds: int = 5


TINY = Plan(tasks=2_000, rounds=1)


def questions(plan: Plan) -> dict[str, tuple[Wanted, Place | None]]:
    """What is asked, and from where on."""
    middle_ms = START_MS + plan.tasks * 50
    mac, site, small = "aabb00007919", Scope("local"), Scope("site-7")
    digest, found = f"{plan.tasks // 2:064d}", f"d{plan.tasks // 2}"
    first: dict[str, Wanted] = {
        "nothing": Wanted(),
        "mac": Wanted(mac=mac),
        "state=done": Wanted(state="done"),
        "state=failed": Wanted(state="failed"),
        "state=running (none)": Wanted(state="running"),
        "lane": Wanted(lane="text"),
        "hit": Wanted(has_hit=True),
        "from, until": Wanted(from_ms=middle_ms, until_ms=middle_ms + 3_600_000),
        "detection_id": Wanted(detection_id=found),
        "image_sha256": Wanted(image_sha256=digest),
        "text (in every one)": Wanted(text="INVOICE"),
        "text (in none)": Wanted(text="nowhere"),
        "hit, lane": Wanted(has_hit=True, lane="text"),
        "state=failed, hit (none)": Wanted(state="failed", has_hit=True),
        "mac, state=failed": Wanted(mac=mac, state="failed"),
        "site": Wanted(within=site),
        "small site": Wanted(within=small),
        "site, mac": Wanted(within=site, mac=mac),
        "site, state=failed": Wanted(within=site, state="failed"),
        "site, state=running (none)": Wanted(within=site, state="running"),
        "site, hit": Wanted(within=site, has_hit=True),
        "small site, state=failed": Wanted(within=small, state="failed"),
        "small site, hit, lane": Wanted(within=small, has_hit=True, lane="text"),
        "small site, mac of another": Wanted(within=small, mac="aabb00005838"),
        "site, image_sha256": Wanted(within=site, image_sha256=digest),
        "key of 3 devices": Wanted(within=Scope("local", frozenset((mac, "aabb00005838", "aabb00001677")))),
    }
    asked: dict[str, tuple[Wanted, Place | None]] = {name: (wanted, None) for name, wanted in first.items()}
    place = Place(middle_ms, "t0")
    asked["nothing, from the middle on"] = (Wanted(), place)
    asked["site, hit, from the middle on"] = (Wanted(within=site, has_hit=True), place)
    return asked


def run(plan: Plan) -> Iterator[str]:
    """Measure both databases; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        postgres = stack.enter_context(started_postgres())
        yield machine("none") + f"\nplan      {plan.tasks:,} tasks; median (least–most) of {plan.rounds} rounds, ms\n"
        yield from _measured("SQLite", f"sqlite:///{folder / 'fairlane.db'}", plan)
        with made_database(postgres.url) as url:
            yield from _measured("PostgreSQL", url, plan)


def _measured(name: str, url: str, plan: Plan) -> Iterator[str]:
    database = models.base.connect(url)
    migrate(database)
    models.base.bind(database)
    try:
        with connection(), patience(_FILL_S):
            fill(database, plan.tasks)
        yield f"\n**{name}**\n"
        rows = [_row(database, asked, wanted, after, plan) for asked, (wanted, after) in questions(plan).items()]
        yield table(["filters", "first page, ms", "index", "sorted"], rows)
    finally:
        close_all(database)


def _row(database: Database, asked: str, wanted: Wanted, after: Place | None, plan: Plan) -> list[str]:
    lists, took_ms = TaskLists(database), []
    for _ in range(plan.rounds):
        begun = perf_counter()
        lists.page(wanted, after=after, limit=_PAGE)
        took_ms.append((perf_counter() - begun) * 1000)
    index, is_sorted = _way(database, lists, wanted, after)
    return [asked, spread(took_ms, 1), index, "yes" if is_sorted else ""]


def _way(database: Database, lists: TaskLists, wanted: Wanted, after: Place | None) -> tuple[str, bool]:
    """The indexes by which the places of the page are found, and whether they have to be sorted."""
    statements: list[tuple[str, Any]] = []
    ask: Any = database.execute_sql
    asker = get_ident()

    def remember(sql: str, parameters: Any = None, *rest: Any) -> Any:
        # Models are bound to one database for the whole process: other threads may ask it for something else.
        if get_ident() == asker:
            statements.append((sql, parameters))
        return ask(sql, parameters, *rest)

    database.execute_sql = remember  # type: ignore[method-assign]
    try:
        lists.page(wanted, after=after, limit=_PAGE)
    finally:
        del database.execute_sql  # type: ignore[method-assign]
    explain = "EXPLAIN QUERY PLAN" if sqlite_path(database) else "EXPLAIN"
    sql, parameters = next(each for each in statements if each[0].startswith("SELECT"))
    with connection():
        plan = " ".join(str(row) for row in ask(f"{explain} {sql}", parameters).fetchall())
    names = dict.fromkeys(re.findall(r"\b(task_\w+_created_ms|task_created_ms|task_pkey)\b", plan))
    return ", ".join(name.removeprefix("task_") for name in names) or "none", "sort" in plan.lower() or "B-TREE" in plan


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a run of a second, which means nothing")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
