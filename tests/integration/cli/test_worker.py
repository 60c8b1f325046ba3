"""`fairlane worker check`: the health of the workers of one host, for a container's health check."""

from pathlib import Path

import pytest
import redis

from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.queue import Task, open_queue, open_roster
from pipeline.settings import Settings, load_settings

WORKER = {"hostname": "here", "pid": "7", "queues": "text", "state": "working", "effective_concurrency": "1"}


@pytest.fixture
def settings(valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings in the environment; a task waits in lane `text`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", valkey_url)
    settings = load_settings()
    open_queue(settings).enqueue(Task("t", "text", "02aabbccddee", SystemClock().now_ms()))
    return settings


def check(host: str = "here") -> int:
    return run(["worker", "check", "--host", host])


def begin_earlier(client: redis.Redis, ms: int) -> None:
    """Let what is noted have begun that much earlier."""
    mark, _, since_ms = client.get("sensitive:standstill:text").rpartition(b"@")
    client.set("sensitive:standstill:text", mark + b"@%d" % (int(since_ms) - ms))


@pytest.mark.feature("H5")
def test_workers_that_claim_are_well_and_those_that_do_not_are_not(
    settings: Settings, valkey: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    open_roster(settings).enter("here:7", WORKER, ttl_ms=60_000)
    assert check() == 0
    assert "workers alive: 1" in capsys.readouterr().out
    begin_earlier(valkey, 40_000)

    assert check() == 1
    assert "no live worker has claimed any" in capsys.readouterr().out


@pytest.mark.feature("H5")
def test_a_worker_that_says_why_it_claims_nothing_is_well(settings: Settings, valkey: redis.Redis) -> None:
    open_roster(settings).enter("here:7", WORKER, ttl_ms=60_000)
    check()
    begin_earlier(valkey, 40_000)
    open_roster(settings).enter("here:7", {**WORKER, "state": "held", "holds": "CPU"}, ttl_ms=60_000)

    assert check() == 0


@pytest.mark.feature("H5")
def test_a_host_without_a_worker_is_not_well(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    open_roster(settings).enter("here:7", WORKER, ttl_ms=60_000)

    assert check("else\x1b[2Jwhere") == 1
    assert "no live worker on host else" in capsys.readouterr().out
