"""Sums for `/metrics`: each end once, also with several schedulers and after replays; durations in buckets."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from models.announcing import Announcing
from models.base import Database, connection, write
from models.deliveries import ChosenDeliveries, Deliveries
from models.delivery_line import DeliveryLine
from models.ledger import DetectionRecord, Finished, Ledger, StepRecord
from models.migrate import migrate, revert
from models.statistics import Statistics
from models.totals import BOUNDS_MS, DurationTotal, Ends, Totals
from tests.support.clock import FakeClock
from tests.support.records import new_task

CALLBACK = "https://receiver.example/hook"


class Sums:
    """Tasks that end, and what is added up of them."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.ledger = Ledger(database, clock, Announcing())
        self.line = DeliveryLine(database, clock)
        self.totals, self.statistics = Totals(database), Statistics(database, 0)

    def end(self, task_id: str, *, wait_ms: int = 0, run_ms: int = 40, hits: int = 0, callback: str = "") -> None:
        """A task that waits, then runs for `run_ms`, a quarter of it in the step `screen`."""
        self.ledger.accept(new_task(task_id, created_ms=self.clock.now_ms(), callback_url=callback or None))
        self.clock.advance(wait_ms)
        self.ledger.start(task_id, 1, 1)
        began_ms = self.clock.now_ms()
        self.clock.advance(run_ms)
        steps = [StepRecord("screen", "done", began_ms, began_ms + run_ms // 4), StepRecord("archive", "skipped", 0, 0)]
        found = DetectionRecord("x", "block" if hits else "pass", [{"word": "x"}] * hits)
        self.ledger.finish(task_id, 1, Finished(None, found, steps, run_ms))

    def deliver(self, *, is_taken: bool) -> None:
        """Make the attempt that is due."""
        (due,) = self.line.due(passing_over=(), limit=9)
        self.line.note_lined(due)
        self.line.begin(due.name, self.clock.now_ms())
        if is_taken:
            assert self.line.note_taken(due.delivery_id, self.clock.now_ms(), 204)
        else:
            assert self.line.note_failure(due.delivery_id, self.clock.now_ms(), 410, "gone", is_final=True)

    def count(self) -> int:
        counted = 0
        while more := self.statistics.count() + self.totals.count_deliveries():
            counted += more
        return counted

    def times(self, stage: str) -> dict[int, int]:
        """By upper bound, how often the stage took so long; 0 stands for no bound."""
        (found,) = [each for each in self.totals.durations() if each.stage == stage]
        return {bound: times for bound, times in zip((*BOUNDS_MS, 0), found.times, strict=True) if times}


@pytest.fixture
def sums(database: Database, clock: FakeClock) -> Sums:
    return Sums(database, clock)


@pytest.mark.feature("H5")
def test_ends_are_added_up_by_lane_and_outcome_with_their_hits(sums: Sums) -> None:
    sums.end("a", hits=2)
    sums.end("b")
    sums.ledger.accept(new_task("c", lane="text", mac="001122334455"))
    sums.ledger.close("c", "expired", "expired", "waited too long")
    assert sums.count() == 3
    sums.end("d")
    sums.count()

    assert sums.totals.ends() == [Ends("ocr", "done", 3, 1, 2), Ends("text", "expired", 1, 0, 0)]


@pytest.mark.feature("H5")
def test_waits_runs_whole_ways_and_steps_fall_into_their_buckets(sums: Sums) -> None:
    sums.end("a", wait_ms=100, run_ms=40)
    sums.end("b", wait_ms=101, run_ms=400)
    sums.end("c", wait_ms=4_000_000, run_ms=40)
    sums.count()

    assert sums.times("wait") == {100: 1, 250: 1, 0: 1}
    assert sums.times("run") == {50: 2, 500: 1}
    assert sums.times("total") == {250: 1, 1_000: 1, 0: 1}
    assert sums.times("screen") == {10: 2, 100: 1}
    assert {each.stage: each.sum_ms for each in sums.totals.durations()}["wait"] == 4_000_201


def test_a_task_that_never_started_has_no_wait(sums: Sums) -> None:
    sums.ledger.accept(new_task("a"))
    sums.ledger.close("a", "expired", "expired", "waited too long")
    sums.count()

    assert [each.stage for each in sums.totals.durations()] == ["total"]


def test_a_clock_that_is_behind_the_queues_makes_no_negative_wait(sums: Sums) -> None:
    sums.ledger.accept(new_task("a", created_ms=sums.clock.now_ms() + 60_000))
    sums.ledger.close("a", "cancelled", "cancelled", "")
    sums.count()

    assert (sums.times("total"), sums.totals.durations()[0].sum_ms) == ({5: 1}, 0)


def test_storing_takes_until_the_results_are_written(sums: Sums) -> None:
    began_ms = sums.clock.now_ms()
    sums.ledger.accept(new_task("a", created_ms=began_ms))
    sums.ledger.start("a", 1, 1)
    sums.clock.advance(20)
    mark = StepRecord("store", "done", began_ms, began_ms)
    sums.ledger.finish("a", 1, Finished(None, DetectionRecord("x", "pass", []), [mark], 1))
    sums.count()

    assert sums.times("store") == {25: 1}


@pytest.mark.feature("H5")
def test_deliveries_are_added_up_with_the_time_until_they_were_taken(sums: Sums) -> None:
    sums.end("a", hits=1, callback=CALLBACK)
    sums.clock.advance(700)
    sums.deliver(is_taken=True)
    sums.end("b", hits=1, callback=CALLBACK)
    sums.deliver(is_taken=False)
    sums.end("c", hits=1, callback=CALLBACK)
    sums.count()

    assert [end[:3] for end in sums.totals.ends() if end.lane == "notify"] == [
        ("notify", "delivered", 1),
        ("notify", "failed", 1),
    ]
    assert sums.times("notify") == {1_000: 1}


def test_a_delivery_that_is_sent_again_ends_and_counts_again(sums: Sums) -> None:
    sums.end("a", hits=1, callback=CALLBACK)
    sums.deliver(is_taken=False)
    sums.count()
    sums.clock.advance(1)
    Deliveries(sums.database, sums.clock, ttl_ms=1_000).replay(ChosenDeliveries())
    sums.deliver(is_taken=True)
    sums.count()

    assert {end.outcome: end.ends for end in sums.totals.ends() if end.lane == "notify"} == {
        "delivered": 1,
        "failed": 1,
    }


def test_schedulers_that_count_at_once_add_each_end_once(sums: Sums) -> None:
    for number in range(30):
        sums.end(f"t{number}", hits=1, callback=CALLBACK if number < 10 else "")
    with connection(sums.database), write(sums.database):
        sums.database.execute_sql(f"UPDATE webhook_delivery SET state = 'delivered', ended_ms = {sums.clock.now_ms()}")
    with ThreadPoolExecutor(4) as threads:
        counted = list(threads.map(lambda _: sums.statistics.count() + sums.totals.count_deliveries(), range(4)))

    assert sum(counted) == 40
    assert {(end.lane, end.outcome): end.ends for end in sums.totals.ends()} == {
        ("ocr", "done"): 30,
        ("notify", "delivered"): 10,
    }
    assert sum(sums.times("run").values()) == 30


def test_a_bound_that_there_was_once_counts_for_the_next_wider_one(sums: Sums) -> None:
    with write(sums.database):
        DurationTotal.insert(stage="wait", lane="ocr", le_ms=77, times=3, sum_ms=200).execute()

    assert sums.times("wait") == {100: 3}


def test_migrating_keeps_what_was_counted_by_day(sums: Sums) -> None:
    sums.end("a", hits=2)
    sums.count()
    sums.database.close()
    revert(sums.database, "0012_totals")
    migrate(sums.database)
    sums.database.connect()

    assert sums.totals.ends() == [Ends("ocr", "done", 1, 1, 2)]
