"""What a scrape of `/metrics` costs while 1,000,000 tasks wait, and what a counted request costs: `--tiny` in seconds.

The tasks stand in the ledger (SQLite, then PostgreSQL) and in line, of 10,000 devices; as many have ended and are
counted.
The scrape is the application's whole answer, without the network.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

import redis

import models.base
from benchmarks.printing import machine, spread, table
from models.migrate import migrate
from models.tasks import Task as Row
from pipeline import metrics
from pipeline.clock import SystemClock
from pipeline.queue import Counters, FairQueue, History, Inspector, Pulse, Roster, Rules, Standing, Standstill, Task
from pipeline.queue.keys import Keys
from pipeline.settings import Settings
from pipeline.storage import open_store
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_postgres, started_valkey
from web.figures.exposition import PLAIN, written
from web.measured import Measured

_PAGE = 1_000
_ROWS_AT_ONCE = 500
_DAY_MS = 86_400_000


class Plan(NamedTuple):
    """How much is measured."""

    tasks: int = 1_000_000
    devices: int = 10_000
    scrapes: int = 50
    counts: int = 100_000


TINY = Plan(tasks=200, devices=20, scrapes=3, counts=1_000)


def run(plan: Plan) -> Iterator[str]:
    """Measure both databases; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        valkey = stack.enter_context(started_valkey())
        client = stack.enter_context(redis.Redis.from_url(valkey.url))
        postgres = stack.enter_context(started_postgres())
        yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        bench = Bench(client, folder, plan)
        empty = bench.scrapes(f"sqlite:///{folder / 'empty.db'}", 0)
        bench.fill_queue()
        rows = [["SQLite", "0", *empty]]
        rows.append(["SQLite", f"{plan.tasks:,}", *bench.scrapes(f"sqlite:///{folder / 'full.db'}", plan.tasks)])
        with made_database(postgres.url) as url:
            rows.append(["PostgreSQL", f"{plan.tasks:,}", *bench.scrapes(url, plan.tasks)])
        yield table(["database", "tasks waiting", "a scrape, ms", "Redis commands"], rows) + "\n"
        yield f"a counted request, µs: {bench.counting():.2f}"


class Bench:
    """A queue, and one database after the other."""

    def __init__(self, client: redis.Redis, folder: Path, plan: Plan) -> None:
        self.client, self.folder, self.plan, self.clock = client, folder, plan, SystemClock()
        rules = Rules(max_total=10**9, max_per_mac=10**9, ttl_ms=_DAY_MS)
        self.keys = Keys(rules.prefix)
        self.queue, self.inspector = FairQueue(client, rules), Inspector(client, rules)
        self.counters = Counters(client, self.keys, is_timed=False)

    def fill_queue(self) -> None:
        """Put the tasks in line."""
        now_ms, plan = self.clock.now_ms(), self.plan
        for start in range(0, plan.tasks, _PAGE):
            numbers = range(start, min(start + _PAGE, plan.tasks))
            self.queue.restore([Standing(Task(f"t{n}", "text", f"{n % plan.devices:012x}", now_ms)) for n in numbers])

    def scrapes(self, url: str, tasks: int) -> list[str]:
        """Fill a database, and scrape it again and again."""
        database = models.base.connect(url)
        migrate(database)
        models.base.bind(database)
        with models.base.connection():
            _accept(tasks, self.plan.devices, self.clock.now_ms())
            _end_half()
        read = self._scraper(database)
        read()
        took = [_ms(read) for _ in range(self.plan.scrapes)]
        self.client.config_resetstat()
        read()
        commands = sum(int(each["calls"]) for each in self.client.info("commandstats").values())
        close_all(database)
        return [spread(took, 1), f"{commands}"]

    def counting(self) -> float:
        """What it costs the thread that answers a request to count it, µs."""

        def count() -> None:
            for _ in range(self.plan.counts):
                self.counters.count(metrics.HTTP_REQUESTS, "POST", "/api/ocr/text", "202")
                self.counters.observe(metrics.HTTP_REQUEST, "POST", "/api/ocr/text", took_ms=7)

        return _ms(count) * 1000 / self.plan.counts

    def _scraper(self, database: Any) -> Callable[[], object]:
        settings = Settings(_env_file=None, data_dir=self.folder)
        roster, pulse = Roster(self.client, self.keys, self.clock), Pulse(self.client, [self.keys])
        measured = Measured.of(
            settings,
            database,
            open_store(str(self.folder / "objects")),
            self.clock,
            inspector=self.inspector,
            roster=roster,
            pulse=pulse,
            standstill=Standstill(self.client, self.keys, pulse, roster, self.clock),
            counters=self.counters,
            history=History(self.client, self.keys, interval_ms=15_000),
        )
        return lambda: written(measured.gathering.read(), PLAIN)


def _accept(tasks: int, devices: int, now_ms: int) -> None:
    rows = (
        {
            "task_id": f"t{number}",
            "lane": "text",
            "mac": f"{number % devices:012x}",
            "site": "local",
            "state": "queued",
            "content_hash": "0" * 64,
            "payload": {},
            "size_bytes": 1,
            "created_ms": now_ms,
        }
        for number in range(2 * tasks)
    )
    while chunk := [row for _, row in zip(range(_ROWS_AT_ONCE), rows, strict=False)]:
        with models.base.write():
            Row.insert_many(chunk).execute()


def _end_half() -> None:
    is_odd = Row.task_id.endswith("1")
    for digit in "3579":
        is_odd |= Row.task_id.endswith(digit)
    with models.base.write():
        Row.update(state="done", ended_ms=Row.created_ms, is_counted=True).where(is_odd).execute()


def _ms(call: Callable[[], object]) -> float:
    began = perf_counter_ns()
    call()
    return (perf_counter_ns() - began) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a moment, to see that it runs")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
