"""`fairlane stats`, on a real SQLite file."""

import json
from pathlib import Path

import pytest

from models.base import bind, connect, connection
from models.ledger import Ledger
from models.migrate import migrate
from models.statistics import Statistics
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.settings import load_settings
from tests.support.records import finished, new_task


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder in which one task has ended and is counted."""
    clock = SystemClock()
    database = connect(load_settings(data_dir=tmp_path).effective_database_url)
    migrate(database)
    bind(database)
    with connection():
        ledger = Ledger(database, clock)
        ledger.accept(new_task(created_ms=clock.now_ms()))
        ledger.start("t1", 1, 1)
        ledger.finish("t1", 1, finished())
        Statistics(database, 0).count()
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], data_dir: Path, *words: str) -> str:
    assert run(["stats", "--data-dir", str(data_dir), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.feature("R6")
def test_stats_shows_counts_and_waits(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = shown(capsys, data_dir)
    assert "with hits" in table
    assert "done" in table

    (row,) = json.loads(shown(capsys, data_dir, "--by", "outcome", "-o", "json"))
    assert row == {"outcome": "done", "tasks": 1, "with_hits": 1, "hits": 1}
    (waits,) = json.loads(shown(capsys, data_dir, "--waits", "-o", "json"))
    assert (waits["lane"], waits["tasks"]) == ("ocr", 1)


def test_stats_says_when_nothing_ended(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shown(capsys, data_dir, "--from", "2001-01-01", "--to", "2001-01-02")

    assert "nothing ended from 2001-01-01 to 2001-01-02" in words
    assert json.loads(shown(capsys, data_dir, "--from", "2001-01-01", "--to", "2001-01-02", "-o", "json")) == []


def test_a_day_that_is_none_is_a_usage_error(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--data-dir", str(data_dir), "--from", "yesterday"]) == 2
    assert "yesterday" in capsys.readouterr().err
