"""How long it takes to put 100,000 accepted tasks back in line after FLUSHALL: `make bench-queue`, or `--tiny`.

The rows lie in SQLite and in PostgreSQL, of 2,000 devices in both lanes; the queue is empty. The second time everything
is in line already, which is what the reconciler does every 30 s.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import redis

import models.base
from benchmarks.printing import machine, table
from models.ledger import Ledger
from models.migrate import migrate
from models.tasks import Task as Row
from pipeline.clock import SystemClock
from pipeline.queue import FairQueue, Inspector, Rules
from pipeline.recovery import recover
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_postgres, started_valkey

_DEVICES = 2_000
_ROWS_AT_ONCE = 500


def run(tasks: int) -> Iterator[str]:
    """Measure both databases; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        valkey = stack.enter_context(started_valkey())
        client = stack.enter_context(redis.Redis.from_url(valkey.url))
        postgres = stack.enter_context(started_postgres())
        yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        rows = [_measure(client, "SQLite", f"sqlite:///{folder / 'fairlane.db'}", tasks)]
        with made_database(postgres.url) as url:
            rows.append(_measure(client, "PostgreSQL", url, tasks))
        yield table(["database", "tasks", "recover after FLUSHALL, s", "compare when nothing is missing, s"], rows)


def _measure(client: redis.Redis, name: str, url: str, tasks: int) -> list[str]:
    database = models.base.connect(url)
    migrate(database)
    models.base.bind(database)
    ledger = Ledger(database, SystemClock())
    queue, inspector = FairQueue(client, Rules()), Inspector(client, Rules())
    seconds = []
    with models.base.connection():
        _accept(database, tasks)
        client.flushall()
        for missing in (tasks, 0):
            began = perf_counter()
            found = recover(queue, inspector, ledger)
            seconds.append(perf_counter() - began)
            assert (found.looked_at, found.enqueued) == (tasks, missing), found
    close_all(database)
    return [name, f"{tasks:,}", *(f"{value:.1f}" for value in seconds)]


def _accept(database: models.base.Database, tasks: int) -> None:
    now_ms = SystemClock().now_ms()
    with database.atomic():
        for start in range(0, tasks, _ROWS_AT_ONCE):
            numbers = range(start, min(start + _ROWS_AT_ONCE, tasks))
            Row.insert_many([_row(number, now_ms) for number in numbers]).execute()


def _row(number: int, now_ms: int) -> dict[str, object]:
    return {
        "task_id": f"t{number:08d}",
        "lane": "text" if number % 2 else "ocr",
        "mac": f"{number % _DEVICES:012x}",
        "site": "local",
        "state": "queued",
        "content_hash": "0" * 64,
        "payload": "{}",
        "size_bytes": 2_000,
        "created_ms": now_ms - number,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few tasks, in seconds: says that it works, not more")
    for piece in run(50 if parser.parse_args().tiny else 100_000):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
