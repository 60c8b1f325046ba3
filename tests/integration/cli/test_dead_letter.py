"""`fairlane dead-letter`, on a real SQLite file."""

import json
from pathlib import Path
from typing import Any

import pytest

from models.audit import AuditTrail
from models.base import bind, connect, connection
from models.dead_letters import Chosen, DeadLetterRow, DeadLetters
from models.ledger import Ledger
from models.migrate import migrate
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.settings import load_settings
from tests.support.clock import FakeClock
from tests.support.records import new_task

RED, BLUE = "aabbccddeeff", "112233445566"


class Archive:
    """Dead letters of tasks that died on a clock of the year 2025, and the commands that are run on them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        database = connect(load_settings().effective_database_url)
        migrate(database)
        bind(database)
        self.clock, self._capsys = FakeClock(), capsys
        self.ledger, self.letters = Ledger(database, self.clock), DeadLetters(database, self.clock)

    def die(self, task_id: str, mac: str = RED, code: str = "bad_image", message: str = "not an image") -> int:
        with connection():
            self.ledger.accept(new_task(task_id, mac=mac))
            self.ledger.end(task_id, 7, "failed", code, message)
        self.clock.advance(1000)
        return self.find(task_id).id

    def find(self, task_id: str) -> DeadLetterRow:
        with connection():
            return self.letters.page(Chosen(task_id=task_id), before=None, limit=1)[0]

    def count(self) -> int:
        with connection():
            return self.letters.count(Chosen())

    def json(self, *arguments: str) -> Any:
        assert run(["dead-letter", *arguments, "-o", "json"]) == 0
        return json.loads(self._capsys.readouterr().out)

    def text(self, *arguments: str, code: int = 0) -> str:
        assert run(["dead-letter", *arguments]) == code
        out, err = self._capsys.readouterr()
        return out if code == 0 else err


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Archive:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))
    return Archive(capsys)


@pytest.mark.feature("Q16")
@pytest.mark.feature("H6")
def test_letters_are_listed_newest_first(archive: Archive) -> None:
    archive.die("a")
    archive.die("b", code="engine_timeout")

    assert [letter["task_id"] for letter in archive.json("list")] == ["b", "a"]
    table = archive.text("list")
    assert table.index("engine_timeout") < table.index("bad_image")
    assert "2025-10-09 08:53:20Z" in table


@pytest.mark.feature("Q16")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--mac", "11-22-33-44-55-66"], ["b"]),
        (["--code", "bad_image"], ["a"]),
        (["--lane", "text"], []),
        (["--state", "failed"], ["b", "a"]),
        (["--task", "a"], ["a"]),
        (["--older-than", "2h"], ["b", "a"]),
        (["--newer-than", "7d"], []),
        (["--limit", "1"], ["b"]),
    ],
)
def test_filters_choose(archive: Archive, arguments: list[str], expected: list[str]) -> None:
    archive.die("a")
    archive.die("b", mac=BLUE, code="engine_timeout")

    assert [letter["task_id"] for letter in archive.json("list", *arguments)] == expected


def test_a_full_page_says_where_the_next_one_begins(archive: Archive) -> None:
    archive.die("a")
    newest = archive.die("b")

    assert f"--before {newest}" in archive.text("list", "--limit", "1")
    assert [letter["task_id"] for letter in archive.json("list", "--before", str(newest))] == ["a"]


@pytest.mark.feature("Q16")
def test_one_letter_is_shown_with_its_payload(archive: Archive) -> None:
    letter_id = archive.die("a", message="why\x1b[2J")

    assert archive.json("show", str(letter_id))["payload"] == new_task().payload
    shown = archive.text("show", str(letter_id))
    assert "images/2025/10/09/t1" in shown
    assert "\x1b" not in shown


@pytest.mark.feature("Q16")
@pytest.mark.parametrize("arguments", [["show", "5"], ["replay", "5"], ["drop", "5", "--yes"]])
def test_an_id_that_nobody_has_ends_with_the_code_for_not_found(archive: Archive, arguments: list[str]) -> None:
    archive.die("a")

    assert "no dead letter 5" in archive.text(*arguments, code=3)
    assert archive.count() == 1


@pytest.mark.feature("Q16")
def test_a_replay_is_counted_first_then_asked_for_once(archive: Archive) -> None:
    archive.die("a")
    archive.die("b", mac=BLUE)

    assert archive.json("replay", "--mac", BLUE, "--dry-run") == {"letters": 1, "dry_run": True}
    assert archive.find("b").replay_asked_ms is None
    assert archive.json("replay", "--mac", BLUE) == {"letters": 1, "dry_run": False}
    assert archive.find("b").replay_asked_ms is not None
    assert archive.find("a").replay_asked_ms is None
    assert "0 dead letters will be replayed" in archive.text("replay", str(archive.find("b").id))
    assert "asked for" in archive.text("list")


@pytest.mark.feature("Q16")
def test_replaying_all_and_dropping_want_a_yes(archive: Archive) -> None:
    letter_id = archive.die("a")

    for arguments in (["replay", "--all"], ["drop", "--all"], ["drop", str(letter_id)]):
        assert "say --yes" in archive.text(*arguments, code=2)
    assert archive.count() == 1
    assert archive.find("a").replay_asked_ms is None

    assert archive.json("replay", "--all", "--yes")["letters"] == 1
    assert archive.json("drop", "--all", "--dry-run") == {"letters": 1, "dry_run": True}
    assert "1 dead letters dropped" in archive.text("drop", str(letter_id), "--yes")
    trail = AuditTrail(archive.letters._database, SystemClock())
    lines = trail.page(site=None, before=None, limit=9)
    assert [(line.action, line.outcome) for line in lines] == [
        ("dead-letter drop", "done"),
        ("dead-letter replay", "done"),
    ]
    assert str(letter_id) in lines[0].target
    assert archive.count() == 0


@pytest.mark.parametrize("noun", ["replay", "drop"])
@pytest.mark.parametrize("arguments", [[], ["--all", "--mac", RED], ["--all", "1"]])
def test_it_must_be_said_which(archive: Archive, noun: str, arguments: list[str]) -> None:
    archive.die("a")

    assert "say which" in archive.text(noun, *arguments, "--yes", code=2)
    assert archive.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [["--mac", "nonsense"], ["--lane", "fax"], ["--state", "done"], ["--older-than", "yesterday"], ["--before", "0"]],
)
def test_bad_arguments_are_usage_errors(archive: Archive, arguments: list[str]) -> None:
    assert arguments[0] in archive.text("list", *arguments, code=2)


def test_what_became_of_a_replay_is_in_the_list(archive: Archive) -> None:
    archive.die("a")
    archive.die("b")
    with connection():
        archive.letters._database.execute_sql("UPDATE dead_letter SET replayed_ms = dead_ms WHERE task_id = 'a'")
        archive.letters._database.execute_sql("UPDATE dead_letter SET replay_refusal = 'gone' WHERE task_id = 'b'")

    table = archive.text("list")
    assert "done 2025-10-09" in table
    assert "refused: gone" in table
