"""Statistics: each end of a task counts once, by the operator's days; waits are told to a fifth."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from models.base import Database, connection, write
from models.ledger import DetectionRecord, Ledger
from models.replays import AskedReplay, Replays
from models.scope import Scope
from models.sites import Site
from models.statistics import Period, Statistics, bucket_of
from models.tasks import Task
from tests.support.clock import FakeClock
from tests.support.records import finished, new_task

#: The fake clock begins on 2025-10-09 at 08:53 UTC.
DAY = 20_370
HOUR_MS = 3_600_000


class Counting:
    """Tasks that end, and what is counted of them."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.ledger = Ledger(database, clock)
        self.statistics = Statistics(database, 0)

    def accept(self, task_id: str, mac: str = "aabbccddeeff", site: str = "local") -> None:
        self.ledger.accept(new_task(task_id, mac=mac, site=site, created_ms=self.clock.now_ms()))

    def end(self, task_id: str, hits: int = 0, wait_ms: int = 0, **of: str) -> None:
        self.accept(task_id, **of)
        self.clock.advance(wait_ms)
        self.ledger.start(task_id, 1, 1)
        found = DetectionRecord("x", "block" if hits else "pass", [{"word": "x"}] * hits)
        self.ledger.finish(task_id, 1, finished(detection=found))

    def count(self) -> int:
        """Count until there is nothing left."""
        total = 0
        while counted := self.statistics.count():
            total += counted
        return total

    def sums(self, *by: str, first: int = DAY, last: int = DAY, site: str | None = None) -> list[tuple[object, ...]]:
        counts = self.statistics.counts(Period(first, last), by, Scope(site), limit=100)  # type: ignore[arg-type]
        return [(*one.of.values(), one.tasks, one.with_hits, one.hits) for one in counts]


@pytest.fixture
def counting(database: Database, clock: FakeClock) -> Counting:
    return Counting(database, clock)


@pytest.mark.feature("R6")
def test_what_has_ended_is_counted_once_with_its_hits(counting: Counting) -> None:
    counting.end("a", hits=2)
    counting.end("b")
    counting.end("c", mac="001122334455")
    counting.accept("d")
    counting.ledger.close("d", "expired", "expired", "waited too long")
    counting.accept("open")

    assert counting.count() == 4
    assert counting.count() == 0

    assert counting.sums("day", "lane", "outcome") == [(DAY, "ocr", "done", 3, 1, 2), (DAY, "ocr", "expired", 1, 0, 0)]
    assert counting.sums("mac") == [("aabbccddeeff", 3, 1, 2), ("001122334455", 1, 0, 0)]  # the busiest first
    assert counting.sums() == [(4, 1, 2)]


@pytest.mark.feature("R6")
def test_counts_add_up_over_rounds_and_days_begin_with_the_operators_clock(counting: Counting) -> None:
    counting.end("a")
    counting.count()
    counting.end("b")
    counting.count()
    counting.clock.advance(8 * HOUR_MS)  # 16:53 UTC: past midnight in Shanghai
    shanghai = Statistics(counting.database, 8 * HOUR_MS)
    counting.end("c")
    shanghai.count()

    assert counting.sums("day", first=DAY, last=DAY + 1) == [(DAY, 2, 0, 0), (DAY + 1, 1, 0, 0)]
    assert counting.sums("day", first=DAY + 1, last=DAY + 9) == [(DAY + 1, 1, 0, 0)]


@pytest.mark.feature("R6")
def test_sites_are_counted_apart(counting: Counting) -> None:
    with write():
        Site.insert(site="north", created_ms=0).returning(Site.site).execute()
    counting.end("a", wait_ms=100)
    counting.end("b", site="north", wait_ms=5_000)
    counting.count()

    assert counting.sums("site") == [("local", 1, 0, 0), ("north", 1, 0, 0)]
    assert counting.sums("outcome", site="north") == [("done", 1, 0, 0)]
    (waits,) = counting.statistics.waits(Period(DAY, DAY), "local")
    assert (waits.tasks, waits.p99_ms < 200) == (1, True)


@pytest.mark.feature("R6")
def test_percentiles_of_waits_are_right_to_a_fifth(counting: Counting) -> None:
    for number in range(100):
        counting.end(f"t{number}", wait_ms=10 * (number + 1))
    counting.count()

    (waits,) = counting.statistics.waits(Period(DAY, DAY))

    assert (waits.day, waits.lane, waits.tasks) == (DAY, "ocr", 100)
    for found, right in ((waits.p50_ms, 500), (waits.p95_ms, 950), (waits.p99_ms, 990)):
        assert right <= found <= right * 1.2


def test_buckets_are_narrow_and_ordered() -> None:
    bounds = [bucket_of(wait_ms) for wait_ms in range(3_600_000 // 1000)]

    assert bounds == sorted(bounds)
    assert bucket_of(0) == 0
    assert bucket_of(3_600_000) < 100


@pytest.mark.parametrize("is_counted_before", [True, False])
def test_an_end_after_a_replay_counts_again(counting: Counting, is_counted_before: bool) -> None:
    counting.accept("a")
    counting.ledger.start("a", 1, 1)
    counting.ledger.end("a", 1, "dead", "worker_crash", "it crashed")
    if is_counted_before:
        counting.count()
    replays = Replays(counting.database, counting.clock, counting.statistics)
    with connection(counting.database):
        counting.ledger.close("a", "dead", "worker_crash", "it crashed")
        with write():
            counting.database.execute_sql("UPDATE dead_letter SET replay_asked_ms = 1")
        asked: AskedReplay = replays.asked(passing_over=(), limit=1)[0]
        replays.reopen(asked, above_token=1, begun_ms=counting.clock.now_ms())
    counting.ledger.start("a", 9, 1)
    counting.ledger.finish("a", 9, finished())
    counting.count()

    assert [(outcome, tasks) for outcome, tasks, *_ in counting.sums("outcome")] == [("dead", 1), ("done", 1)]


def test_schedulers_that_count_at_once_count_each_task_once(counting: Counting) -> None:
    for number in range(40):
        counting.end(f"t{number}")
    with ThreadPoolExecutor(4) as threads:
        counted = list(threads.map(lambda _: counting.count(), range(4)))

    assert sum(counted) == 40
    assert counting.sums() == [(40, 0, 0)]
    with connection(counting.database):
        assert Task.select().where(~Task.is_counted).count() == 0
