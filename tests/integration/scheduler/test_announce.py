"""Duty: what is to be announced is put in line, whatever died between the result and the line."""

import pytest
import redis

from models.base import Database
from models.delivery_line import RETRY_WAITS_S
from models.endings import endings_of
from models.ledger import DetectionRecord, Finished
from pipeline.errors import QueueUnavailable
from pipeline.queue import Inspector, Rules, TaskState
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector
from pipeline.scheduler.announce import IN_LINE_MAX, IN_LINE_OF_DEVICE_MAX, LONG_MS, Announcer
from pipeline.scheduler.sweep import Sweep
from tests.support.announcements import HIT, MAC, TTL_MS, Bureau
from tests.support.clock import FakeClock
from tests.support.receivers import answering, receiving

UNHEARD = "https://receiver.test/hook"
BLUE = "112233445566"
LONG_S = LONG_MS // 1000 + 1


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def bureau(request: pytest.FixtureRequest, valkey: redis.Redis, database: Database, clock: FakeClock) -> Bureau:
    bureau = Bureau(valkey, database, clock)
    if request.param:
        bureau.queue = ShardedQueue(valkey, Rules(), request.param, clock)
        bureau.inspector = ShardedInspector(valkey, Rules(), request.param, clock)
        bureau.announcer = Announcer(bureau.queue, bureau.inspector, bureau.line)
    return bureau


def waiting(bureau: Bureau) -> int:
    return bureau.inspector.counts()["notify"][0]


@pytest.mark.feature("R4")
def test_a_result_whose_worker_died_at_once_is_announced_once_all_the_same(bureau: Bureau) -> None:
    """Nothing but the transaction of the result has happened: that is all a worker does for an announcement."""
    with receiving() as receiver:
        bureau.end(callback_url=receiver.url())
        assert waiting(bureau) == 0
        for _ in range(3):
            bureau.announcer.put_in_line()
        assert waiting(bureau) == 1
        assert bureau.settle() == 1

    assert len(receiver.heard) == 1
    assert all(books.balances for books in bureau.inspector.audit())


@pytest.mark.feature("R4")
def test_a_scheduler_that_dies_between_note_and_line_is_made_good(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    (due,) = bureau.line.due(passing_over=[], limit=9)
    assert bureau.line.note_lined(due)  # and here it died

    bureau.settle(LONG_S - 2)
    bureau.announcer.look_after()
    assert waiting(bureau) == 0, "it may be on its way into the line still"
    bureau.clock.advance(2000)
    bureau.announcer.look_after()
    bureau.announcer.put_in_line()

    assert waiting(bureau) == 1


@pytest.mark.feature("R4")
def test_an_announcement_that_missed_the_line_is_in_it_seconds_later(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    (due,) = bureau.line.due(passing_over=[], limit=9)
    assert bureau.line.note_lined(due)  # and then the queue's server ended

    bureau.clock.advance(6000)
    bureau.announcer.look_after()
    bureau.announcer.put_in_line()

    assert waiting(bureau) == 1


@pytest.mark.feature("R4")
def test_a_hit_of_a_worker_whose_clock_is_an_hour_ahead_is_announced_at_once(bureau: Bureau) -> None:
    bureau.begin("t1", callback_url=UNHEARD, created_ms=bureau.clock.now_ms())
    bureau.clock.advance(3_600_000)
    found = DetectionRecord("x", "block", [HIT], label="spam", level=3, score=0.9)
    bureau.ledger.finish("t1", bureau.tokens, Finished(None, found, [], 1))
    bureau.clock.advance(-3_600_000)

    bureau.announcer.put_in_line()

    assert waiting(bureau) == 1


class AwayInspector(Inspector):
    """Looks at a queue that does not answer."""

    def __init__(self) -> None:
        """It has no client."""

    def now_ms(self) -> int:
        raise QueueUnavailable("TIME: silence")


@pytest.mark.feature("R4")
def test_while_the_queue_is_away_nothing_is_noted_as_in_line(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)

    with pytest.raises(QueueUnavailable):
        Announcer(bureau.queue, AwayInspector(), bureau.line).put_in_line()

    assert bureau.line.in_line() == {}


@pytest.mark.feature("R4")
def test_several_schedulers_put_a_delivery_in_line_once(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    (due,) = bureau.line.due(passing_over=[], limit=9)
    bureau.announcer.put_in_line()

    assert not bureau.line.note_lined(due)
    assert waiting(bureau) == 1


@pytest.mark.feature("R4")
def test_a_queue_that_lost_everything_gets_its_deliveries_back(bureau: Bureau, valkey: redis.Redis) -> None:
    with receiving() as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.announcer.put_in_line()
        valkey.flushall()
        bureau.clock.advance(LONG_S * 1000)
        bureau.announcer.look_after()
        assert bureau.settle() == 1

    assert len(receiver.heard) == 1


@pytest.mark.feature("R4")
def test_an_attempt_that_kills_its_worker_counts_and_the_last_one_is_the_end(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    for attempt, wait_s in enumerate((0, *RETRY_WAITS_S), start=1):
        bureau.clock.advance(max(wait_s, LONG_S) * 1000)
        bureau.announcer.look_after()
        bureau.announcer.put_in_line()
        claim = bureau.claim()
        assert claim
        assert bureau.line.begin(claim.task_id, claim.token)
        bureau.queue.bury(claim.task_id, claim.token, ending=TaskState.DEAD, code="x", message="", cost_ms=0)
        assert (bureau.row().state, bureau.row().attempts) == ("pending", attempt)

    bureau.clock.advance(LONG_S * 1000)
    bureau.announcer.look_after()

    assert (bureau.row().state, bureau.row().error) == ("failed", "its worker died during the last attempt")
    assert bureau.step() == ("failed", "callback: its worker died during the last attempt")


@pytest.mark.feature("R4")
def test_what_nobody_delivered_in_its_time_is_given_up(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    bureau.clock.advance(TTL_MS + 1)

    bureau.announcer.look_after()

    assert (bureau.row().state, bureau.row().error) == ("failed", "it could not be delivered in time")
    assert bureau.settle() == 0


@pytest.mark.feature("R4")
def test_what_waits_for_its_next_attempt_takes_no_place_in_line(bureau: Bureau) -> None:
    with receiving(answering(b"HTTP/1.1 503 No\r\n\r\n")) as receiver:
        for number in range(3):
            bureau.end(f"t{number}", callback_url=receiver.url())
        assert bureau.settle() == 3

    assert bureau.inspector.counts()["notify"] == (0, 0)
    assert bureau.line.in_line() == {}


@pytest.mark.feature("R4")
@pytest.mark.feature("Q10")
def test_the_line_of_deliveries_is_bounded_for_each_device_and_in_all(bureau: Bureau) -> None:
    """They count in the limits that submits have to keep: a device's hits must not close its own door."""
    for number in range(IN_LINE_OF_DEVICE_MAX + 5):
        bureau.end(f"red{number}", callback_url=UNHEARD)
    bureau.end("blue", mac=BLUE, callback_url=UNHEARD)

    for _ in range(3):
        bureau.announcer.put_in_line()

    assert bureau.line.in_line() == {("local", MAC): IN_LINE_OF_DEVICE_MAX, ("local", BLUE): 1}
    assert Rules().max_per_mac >= IN_LINE_OF_DEVICE_MAX * 2
    assert Rules().max_total >= IN_LINE_MAX * 20
    bureau.queue.admit(MAC, "text")


@pytest.mark.feature("S1")
def test_the_sweep_leaves_deliveries_in_line_and_takes_out_those_that_are_over(
    bureau: Bureau, database: Database
) -> None:
    bureau.end("a", callback_url=UNHEARD)
    bureau.end("b", mac=BLUE, callback_url=UNHEARD)
    bureau.announcer.put_in_line()
    (over, _) = bureau.line.long_lined(for_ms=-1)
    bureau.line.take_out(over)
    sweep = Sweep(
        bureau.queue,
        bureau.inspector,
        lambda names: {**endings_of(database, names), **bureau.line.standing_of(names)},
    )

    sweep.run()

    assert waiting(bureau) == 1
    assert bureau.inspector.endings([over.name]) == [None]
