"""A replay that stops half-way: the reconciler puts the task in line, once, and gives it its whole time again."""

import pytest
import redis

from models.base import Database
from models.dead_letters import Chosen
from pipeline.errors import QueueUnavailable
from pipeline.queue import Task, TaskState
from tests.support.clock import FakeClock
from tests.support.dead_letters import House


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def house(request: pytest.FixtureRequest, valkey: redis.Redis, database: Database, clock: FakeClock) -> House:
    return House(valkey, database, clock, shards=request.param)


def no_answer(_: Task) -> None:
    raise QueueUnavailable("replay: no answer")


@pytest.mark.feature("Q16")
@pytest.mark.feature("S1")
@pytest.mark.parametrize("is_forgotten", [False, True], ids=["remembered", "forgotten"])
def test_a_crash_between_ledger_and_line_is_mended_by_the_reconciler(
    house: House, is_forgotten: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = house.die("a")
    if is_forgotten:
        house.clock.advance(10 * 3_600_000)
        house.line.client.delete(*house.line.client.keys("*task:a"))
    house.ask()
    with monkeypatch.context() as broken:
        broken.setattr(house.queue, "replay", no_answer)
        with pytest.raises(QueueUnavailable):
            house.replayer.run()
    assert house.states("a")[1] == "queued"

    house.clock.advance(10_000)
    house.reconcile()
    house.reconcile()

    assert house.states("a") == ("queued", "queued")
    claim = house.line.claim()
    assert claim.token > token
    assert house.ledger.start("a", claim.token, 1).state == "running"
    house.line.assert_books_balance()


def test_an_emptied_queue_gives_a_replayed_task_its_whole_time_again(house: House) -> None:
    house.die("a")
    house.clock.advance(10 * 3_600_000)
    house.ask()
    house.replayer.run()
    house.line.client.flushall()
    house.clock.advance(10_000)

    house.reconcile()

    assert house.line.claim().task_id == "a"


def test_a_replayed_task_that_dies_while_the_ledger_is_away_is_closed_by_the_reconciler(house: House) -> None:
    house.die("a")
    house.ask()
    house.replayer.run()
    claim = house.line.claim()
    house.queue.bury("a", claim.token, ending=TaskState.DEAD, code="worker_crash", message="", cost_ms=1)
    house.clock.advance(10_000)

    house.reconcile()

    assert house.states("a") == ("dead", "dead")
    assert house.letters.count(Chosen(task_id="a")) == 2


def test_the_reconciler_waits_with_a_reopened_task_while_its_device_has_no_room(
    valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    house = House(valkey, database, clock, max_per_mac=1)
    house.die("a")
    house.ask()
    house.reopen(house.replays.asked(passing_over=(), limit=1)[0])
    house.submit("b")
    house.clock.advance(10_000)

    house.reconcile()
    assert house.states("a") == ("dead", "queued")
    house.line.drain(1)
    house.reconcile()

    assert house.states("a") == ("queued", "queued")
