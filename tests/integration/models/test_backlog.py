"""What has piled up: told from indexes, at a cost that does not grow, by the clock of the database's own server."""

import pytest

from models.announcing import Announcing
from models.backlog import COUNTED_MAX, Backlog, Backlogs
from models.base import Database, connection, sqlite_path, write
from models.ledger import DetectionRecord, Finished, Ledger
from models.statistics import Statistics
from models.webhook_delivery import WebhookDelivery
from pipeline.clock import SystemClock
from tests.support.clock import FakeClock
from tests.support.records import new_task


class Desk:
    """A ledger in which things pile up."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.ledger, self.backlogs = Ledger(database, clock, Announcing()), Backlogs(database)

    def end(self, task_id: str, *, is_dead: bool = False) -> None:
        self.ledger.accept(new_task(task_id, callback_url="https://receiver.example/"))
        self.ledger.start(task_id, 1, 1)
        if is_dead:
            self.ledger.end(task_id, 1, "dead", "worker_crash", "it crashed")
        else:
            self.ledger.finish(task_id, 1, Finished(None, DetectionRecord("x", "block", [{"word": "x"}]), [], 1))
        self.clock.advance(1_000)


@pytest.fixture
def desk(database: Database, clock: FakeClock) -> Desk:
    return Desk(database, clock)


@pytest.mark.feature("H5")
def test_an_empty_database_has_no_backlog(desk: Desk) -> None:
    assert desk.backlogs.look() == Backlog(None, 0, {"pending": 0, "failed": 0}, None)


@pytest.mark.feature("H5")
def test_what_is_not_counted_dead_or_not_delivered_is_told_with_the_age_of_the_oldest(desk: Desk) -> None:
    began_ms = desk.clock.now_ms()
    desk.end("a")
    desk.end("b")
    desk.end("c", is_dead=True)
    with write(desk.database):
        WebhookDelivery.update(state="failed", ended_ms=1).where(WebhookDelivery.task_id == "b").execute()

    assert desk.backlogs.look() == Backlog(began_ms, 1, {"pending": 1, "failed": 1}, began_ms)
    Statistics(desk.database, 0).count()
    assert desk.backlogs.look().uncounted_since_ms is None


def test_more_than_can_be_counted_quickly_is_told_as_so_many(desk: Desk) -> None:
    desk.end("a")
    row = WebhookDelivery.select().dicts().get()
    rows = [{**row, "id": None, "task_id": f"x{number}", "token": number} for number in range(COUNTED_MAX + 50)]
    with write(desk.database):
        for start in range(0, len(rows), 500):
            chunk = [
                {name: value for name, value in each.items() if name != "id"} for each in rows[start : start + 500]
            ]
            WebhookDelivery.insert_many(chunk).execute()

    assert desk.backlogs.look().deliveries == {"pending": COUNTED_MAX, "failed": 0}


@pytest.mark.feature("H5")
def test_the_clock_of_the_server_is_told_where_there_is_a_server(desk: Desk) -> None:
    with connection(desk.database):
        now_ms = desk.backlogs.now_ms()
    if sqlite_path(desk.database):
        assert now_ms is None
    else:
        assert now_ms == pytest.approx(SystemClock().now_ms(), abs=5_000)
