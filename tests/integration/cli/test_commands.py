"""The commands that look at queue and database, on a real Valkey and a real SQLite file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from models.base import bind, connect, connection
from models.ledger import Ledger
from models.migrate import migrate
from models.rows import DetectionRecord, Finished, NewTask, OcrRecord, StepRecord
from pipeline.cli import audit, run
from pipeline.clock import SystemClock
from pipeline.queue import Task, open_inspector, open_queue, open_roster
from pipeline.scheduler.watermark import publish_watermark
from pipeline.settings import Settings, load_settings

MAC = "02aabbccddee"


@pytest.fixture
def settings(valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings in the environment, as an operator gives them; the database is migrated."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", valkey_url)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))
    settings = load_settings()
    migrate(connect(settings.effective_database_url))
    return settings


@pytest.fixture
def ledger(settings: Settings) -> Ledger:
    database = connect(settings.effective_database_url)
    bind(database)
    return Ledger(database, SystemClock())


@pytest.fixture
def accept(ledger: Ledger) -> Callable[[str], None]:
    """Accept a task, in the ledger only."""

    def accept(task_id: str) -> None:
        payload = {"text": "x", "words": []}
        with connection():
            ledger.accept(NewTask(task_id, "text", MAC, "local", "0" * 64, payload, 1, None, SystemClock().now_ms()))

    return accept


def enqueue(settings: Settings, task_id: str) -> None:
    open_queue(settings).enqueue(Task(task_id, "text", MAC, SystemClock().now_ms()))


def register_worker(settings: Settings, lanes: str) -> None:
    entry = {"hostname": "host\x1b[2J", "pid": "7", "queues": lanes, "last_heartbeat": "1"}
    open_roster(settings).enter("host:7", entry, ttl_ms=60_000)


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run a command that succeeds; return the JSON it prints."""

    def answer(*arguments: str, code: int = 0) -> Any:
        assert run([*arguments, "-o", "json"]) == code
        return json.loads(capsys.readouterr().out)

    return answer


@pytest.mark.feature("H6")
def test_status_shows_lanes_and_workers(settings: Settings, answer: Callable[..., Any]) -> None:
    enqueue(settings, "t1")
    register_worker(settings, "text")
    status = answer("status")
    assert [(lane["lane"], lane["waiting"], lane["devices"]) for lane in status["lanes"]] == [
        ("ocr", 0, 0),
        ("text", 1, 1),
        ("notify", 0, 0),
    ]
    assert [worker["pid"] for worker in status["workers"]] == ["7"]


@pytest.mark.feature("S8")
def test_status_shows_what_the_scheduler_says_of_each_lane(
    settings: Settings, answer: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    enqueue(settings, "t1")
    assert run(["status"]) == 0
    assert "no scheduler has published" in capsys.readouterr().out

    publish_watermark(open_inspector(settings), open_roster(settings), interval_ms=15_000)

    text = answer("status")["lanes"][1]
    assert (text["desired_workers"], text["starved_devices"], text["is_downgraded"]) == (1, 0, False)
    assert run(["status"]) == 0
    assert "wanted" in capsys.readouterr().out


def test_a_worker_cannot_command_the_terminal_of_status(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    register_worker(settings, "text")
    assert run(["status"]) == 0
    out = capsys.readouterr().out
    assert "host" in out
    assert "\x1b" not in out


def test_status_says_when_nobody_works(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status"]) == 0
    assert "no worker is alive" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["status", "audit", "recover"])
def test_a_queue_that_does_not_answer_ends_with_the_code_for_unreachable(
    accept: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    accept("t1")
    monkeypatch.setenv("FAIRLANE_REDIS_URL", "unix:///nowhere/valkey.sock")
    assert run([command]) == 4


@pytest.mark.feature("Q20")
def test_audit_prints_books_that_balance(settings: Settings, answer: Callable[..., Any]) -> None:
    enqueue(settings, "t1")
    text = answer("audit")[1]
    assert (text["lane"], text["accepted"], text["waiting"], text["balances"]) == ("text", 1, 1, True)


def test_audit_fails_when_a_task_is_missing(
    settings: Settings, valkey: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    enqueue(settings, "t1")
    valkey.delete(open_inspector(settings).keys.line(MAC, "text"))
    assert run(["audit"]) == 1
    assert "empty line" in capsys.readouterr().out


def test_audit_of_a_long_queue_wants_to_be_asked_for_twice(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "_MANY", 1)
    enqueue(settings, "t1")
    enqueue(settings, "t2")
    assert run(["audit"]) == 2
    assert "recounts 2 tasks" in capsys.readouterr().err
    assert run(["audit", "--yes"]) == 0


@pytest.mark.feature("Q21")
def test_recover_puts_what_the_queue_lost_back_in_line(
    settings: Settings, accept: Callable[[str], None], answer: Callable[..., Any]
) -> None:
    accept("t1")
    assert answer("recover") == {"looked_at": 1, "enqueued": 1, "closed": 0}
    assert open_inspector(settings).lanes()[1].waiting == 1
    assert answer("recover") == {"looked_at": 1, "enqueued": 0, "closed": 0}


def test_an_unknown_task_ends_with_the_code_for_not_found(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["task", "show", "no-such"]) == 3
    assert "no task no-such" in capsys.readouterr().err


def test_a_waiting_task_is_shown_with_its_steps(accept: Callable[[str], None], answer: Callable[..., Any]) -> None:
    accept("t1")
    view = answer("task", "show", "t1")
    assert view["task"]["state"] == "queued"
    assert view["steps"][0]["name"] == "enqueued"


def test_a_done_task_is_shown_with_what_was_read_and_found(
    ledger: Ledger, accept: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    accept("t1")
    hit = {
        "word": "loan",
        "list": "global",
        "start": 6,
        "end": 10,
        "start_utf16": 6,
        "end_utf16": 10,
        "surface": "loan",
    }
    page = OcrRecord("quick\u202eloan", [], 1, 0.9, 8, 6, "rapid", "m", {})
    found = DetectionRecord("quick\u202eloan", "block", [hit])
    with connection():
        ledger.start("t1", 1, 1)
        ledger.finish("t1", 1, Finished(page, found, [StepRecord("screen", "done", 1, 2)], 5))
    assert run(["task", "show", "t1"]) == 0
    out = capsys.readouterr().out
    assert "quick\N{REPLACEMENT CHARACTER}loan" in out
    assert "hits: loan (global); suggestion: block" in out


def test_migrate_is_done_once(settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fresh = ["--data-dir", str(tmp_path / "fresh")]
    assert run(["migrate", "--check", *fresh]) == 1
    assert not (tmp_path / "fresh").exists()
    assert run(["migrate", *fresh]) == 0
    assert "done: " in capsys.readouterr().out
    assert run(["migrate", *fresh]) == 0
    assert run(["migrate", "--check", *fresh]) == 0
    assert capsys.readouterr().out == "the database is up to date\n" * 2


@pytest.mark.feature("H6")
def test_what_changes_something_tells_it_to_programs_too(
    settings: Settings, accept: Callable[[str], None], answer: Callable[..., Any], tmp_path: Path
) -> None:
    accept("t1")

    assert answer("task", "cancel", "t1") == [{"task_id": "t1", "cancelled": True}]
    assert answer("migrate", "--check") == {"to_be_done": []}
    assert len(answer("migrate", "--data-dir", str(tmp_path / "fresh"))["done"]) > 5


@pytest.mark.feature("S3")
def test_workers_are_listed_with_what_they_can_run_and_why_they_do_not(
    settings: Settings, answer: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    now_ms = SystemClock().now_ms()
    entry = {"hostname": "h", "pid": "7", "queues": "ocr", "state": "held", "holds": "CPU over its watermark"}
    figures = {"declared_concurrency": "8", "effective_concurrency": "1", "last_heartbeat": str(now_ms - 5_000)}
    open_roster(settings).enter("h:7", {**entry, **figures}, ttl_ms=60_000)

    (worker,) = answer("worker", "list")
    assert run(["worker", "list"]) == 0
    table = capsys.readouterr().out

    assert (worker["declared_concurrency"], worker["effective_concurrency"]) == (8, 1)
    assert (worker["state"], worker["holds"]) == ("held", ["CPU over its watermark"])
    assert worker["heartbeat_age_ms"] >= 5_000
    assert "CPU over its watermark" in table
    assert " ago" in table


def test_a_list_of_no_workers_says_so(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worker", "list"]) == 0
    assert "no worker is alive" in capsys.readouterr().out
