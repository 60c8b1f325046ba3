"""`fairlane delivery`, on a real SQLite file."""

import json
from pathlib import Path
from typing import Any

import pytest

from models.announcing import Announcing
from models.audit import AuditTrail
from models.base import bind, bound, connect, connection
from models.deliveries import ChosenDeliveries, Deliveries
from models.delivery_line import DeliveryLine
from models.ledger import DetectionRecord, Finished, Ledger
from models.migrate import migrate
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.settings import load_settings
from tests.support.clock import FakeClock
from tests.support.records import new_task

RED, BLUE = "aabbccddeeff", "112233445566"


class Outbox:
    """Deliveries that have failed, on a clock of the year 2025, and the commands that are run on them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        database = connect(load_settings().effective_database_url)
        migrate(database)
        bind(database)
        self.clock, self._capsys = FakeClock(), capsys
        self.ledger = Ledger(database, self.clock, Announcing("https://receiver.example/hook?token=sesame"))
        self.line = DeliveryLine(database, self.clock)
        self.deliveries = Deliveries(database, self.clock, ttl_ms=1000)

    def fail(self, task_id: str, mac: str = RED) -> int:
        with connection():
            self.ledger.accept(new_task(task_id, mac=mac, lane="text"))
            self.ledger.start(task_id, 1, 1)
            self.ledger.finish(task_id, 1, Finished(None, DetectionRecord("x", "block", [{"word": "x"}]), [], 1))
            (due,) = self.line.due(passing_over=(), limit=1)
            self.line.note_lined(due)
            self.line.begin(due.name, 1)
            self.line.note_failure(due.delivery_id, 1, 410, "the receiver is gone for good", is_final=True)
        self.clock.advance(1000)
        return due.delivery_id

    def states(self) -> list[str]:
        with connection():
            return [row.state for row in self.deliveries.page(ChosenDeliveries(), before=None, limit=9)[::-1]]

    def json(self, *arguments: str) -> Any:
        assert run(["delivery", *arguments, "-o", "json"]) == 0
        return json.loads(self._capsys.readouterr().out)

    def text(self, *arguments: str, code: int = 0) -> str:
        assert run(["delivery", *arguments]) == code
        out, err = self._capsys.readouterr()
        return out if code == 0 else err


@pytest.fixture
def outbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Outbox:
    monkeypatch.chdir(tmp_path)
    return Outbox(capsys)


@pytest.mark.feature("R4")
def test_deliveries_are_listed_and_shown_without_the_query_of_the_url(outbox: Outbox) -> None:
    first, second = outbox.fail("a"), outbox.fail("b", BLUE)

    assert [row["id"] for row in outbox.json("list")] == [second, first]
    assert [row["id"] for row in outbox.json("list", "--mac", RED, "--state", "failed")] == [first]
    assert outbox.json("list", "--task", "c") == []
    shown = outbox.json("show", str(first))
    assert json.loads(shown["body"])["data"]["task_id"] == "a"
    assert (shown["message_id"], shown["url"]) == ("msg_a_webhook_1", "https://receiver.example/hook")
    everything = outbox.text("list") + outbox.text("show", str(first)) + json.dumps(shown)
    assert "gone for good" in everything
    assert "sesame" not in everything


@pytest.mark.feature("R4")
def test_a_replay_is_counted_first_and_is_a_line_of_the_audit(outbox: Outbox) -> None:
    first, _ = outbox.fail("a"), outbox.fail("b", BLUE)

    assert outbox.text("replay", str(first), "--dry-run") == "1 deliveries would be made again\n"
    assert outbox.states() == ["failed", "failed"]
    assert outbox.json("replay", str(first)) == {"deliveries": 1, "dry_run": False}
    assert outbox.states() == ["pending", "failed"]
    assert "say --yes" in outbox.text("replay", "--all", code=2)
    assert outbox.text("replay", "--all", "--yes") == "1 deliveries will be made again\n"
    assert outbox.states() == ["pending", "pending"]
    with connection():
        lines = AuditTrail(bound(), SystemClock()).page(site=None, before=None, limit=9)
    assert [line.action for line in lines] == ["delivery replay"] * 2


def test_what_is_not_there_or_not_said_is_refused(outbox: Outbox) -> None:
    assert "no delivery 9" in outbox.text("show", "9", code=3)
    assert "nothing was done" in outbox.text("replay", "9", code=3)
    assert "say which" in outbox.text("replay", code=2)
    assert "say which" in outbox.text("replay", "9", "--all", code=2)
    assert "--mac" in outbox.text("list", "--mac", "x", code=2)
