"""How many tasks stand in the ledger: one question for all of them."""

from models.base import Database
from models.endings import endings_of
from models.ledger import Ledger
from tests.support.clock import FakeClock
from tests.support.records import new_task


def test_each_known_task_is_there_with_its_state_and_no_other(database: Database, clock: FakeClock) -> None:
    ledger = Ledger(database, clock)
    for task_id in ("a", "b", "c"):
        ledger.accept(new_task(task_id))
    ledger.close("b", "cancelled", "cancelled", "by a client")

    assert endings_of(database, ["a", "b", "nobody"]) == {
        "a": ("queued", ""),
        "b": ("cancelled", "cancelled"),
    }
    assert endings_of(database, []) == {}
