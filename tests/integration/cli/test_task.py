"""`fairlane task list` and `task cancel`, on a real Valkey and a real SQLite file."""

import json
from pathlib import Path

import pytest
import redis

from models.base import bind, connect, connection
from models.ledger import Ledger
from models.migrate import migrate
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.queue import Task, open_inspector, open_queue
from pipeline.settings import Settings, load_settings
from tests.support.records import new_task

MAC = "02aabbccddee"


@pytest.fixture
def settings(valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings in the environment, as an operator gives them; two tasks are accepted, and the first is in line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", valkey_url)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))
    settings = load_settings()
    database = connect(settings.effective_database_url)
    migrate(database)
    bind(database)
    now_ms = SystemClock().now_ms()
    with connection():
        for number, task_id in enumerate(("t1", "t2")):
            Ledger(database, SystemClock()).accept(new_task(task_id, lane="text", mac=MAC, created_ms=now_ms + number))
    open_queue(settings).enqueue(Task("t1", "text", MAC, now_ms))
    return settings


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["task", "list", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.feature("H6")
def test_list_shows_what_is_asked_for_newest_first(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, "--mac", "02:AA:BB:CC:DD:EE", "--newer-than", "1h", "-o", "jsonl").splitlines()
    assert [json.loads(line)["task_id"] for line in lines] == ["t2", "t1"]
    assert json.loads(listed(capsys, "--lane", "ocr", "-o", "json")) == []
    assert json.loads(listed(capsys, "--older-than", "1h", "-o", "json")) == []
    table = listed(capsys, "--limit", "1")
    assert "t2" in table
    assert "t1" not in table


@pytest.mark.feature("H6")
def test_cancel_ends_a_task_in_both_books(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["task", "cancel", "t1", "t2"]) == 0
    assert "cancelled 2 of 2" in capsys.readouterr().out
    queued = open_inspector(settings).find("t1")
    assert queued
    assert queued.state == "cancelled"
    assert json.loads(listed(capsys, "--state", "queued", "-o", "json")) == []
    assert run(["task", "cancel", "t1"]) == 0
    assert "cancelled 0 of 1" in capsys.readouterr().out


def test_an_unknown_task_is_not_found_and_nothing_is_cancelled(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["task", "cancel", "t1", "unknown"]) == 3
    assert len(json.loads(listed(capsys, "--state", "queued", "-o", "json"))) == 2
