"""The duty that keeps a sample of each lane."""

import pytest
import redis

from models.base import Database
from models.ledger import DetectionRecord, Finished, Ledger
from models.statistics import Statistics
from models.totals import Totals
from pipeline.errors import DatabaseUnavailable
from pipeline.queue import History, Inspector, Pulse, Rules, Sample
from pipeline.queue.keys import Keys
from pipeline.scheduler.history import note_history
from tests.support.clock import FakeClock
from tests.support.line import RED, Line
from tests.support.records import new_task


class SilentTotals(Totals):
    def durations(self) -> list[object]:  # type: ignore[override]
        raise DatabaseUnavailable("no answer")


class Watch:
    """A queue and a ledger that are looked at."""

    def __init__(self, client: redis.Redis, database: Database, clock: FakeClock) -> None:
        self.line, self.clock, self.database = Line(client, clock), clock, database
        self.keys = Keys(Rules().prefix)
        self.history = History(client, self.keys, interval_ms=15_000)
        self.inspector, self.pulse = Inspector(client, Rules(), clock), Pulse(client, [self.keys])
        self.ledger = Ledger(database, clock)

    def look(self, totals: Totals | None = None) -> list[Sample]:
        note_history(self.history, self.inspector, self.pulse, totals or Totals(self.database))
        return [dated.sample for dated in self.history.samples("ocr")]


@pytest.fixture
def watch(valkey: redis.Redis, database: Database, clock: FakeClock) -> Watch:
    return Watch(valkey, database, clock)


@pytest.mark.feature("H4")
def test_a_sample_tells_a_lane_and_what_has_ended_of_it(watch: Watch) -> None:
    for _ in range(3):
        watch.line.submit(RED)
    claim = watch.line.claim()
    watch.line.queue.complete(claim.task_id, claim.token, cost_ms=1)
    watch.line.claim()
    watch.ledger.accept(new_task("t", created_ms=watch.clock.now_ms()))
    watch.clock.advance(7_000)
    watch.ledger.start("t", 1, 1)
    watch.ledger.finish("t", 1, Finished(None, DetectionRecord("x", "pass", []), [], 1))
    Statistics(watch.database, 0).count()

    (sample,) = watch.look()
    assert watch.look() == [sample], "one a slot"

    assert (sample.waiting, sample.running, sample.oldest_wait_ms, sample.ended) == (1, 1, 7_000, 1)
    assert sum(sample.waits) == 1


def test_while_the_database_is_silent_there_are_samples_without_waits(watch: Watch) -> None:
    watch.line.submit(RED)

    (sample,) = watch.look(SilentTotals(watch.database))

    assert (sample.waiting, sample.waits) == (1, ())
