"""The same processes on servers of one's own: three settings change, nothing else."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running, settings_for
from tests.support.servers import S3_CREDENTIALS, Server, start_s3


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An S3 server, whose credentials the processes find where S3's tools do."""
    for name, value in S3_CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "s3").mkdir()
    server = start_s3(tmp_path / "s3")
    yield server
    server.stop()


@pytest.mark.feature("R3")
def test_the_main_job_runs_on_a_redis_server_and_on_either_database(
    valkey: redis.Redis, valkey_url: str, empty_database_url: str, s3: Server, tmp_path: Path
) -> None:
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        database_url=empty_database_url,
        storage_url=f"s3://images?endpoint={s3.url}&region=us-east-1",
    )
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        fairlane = Running(settings, stack)
        receipt = fairlane.api.submit_image("i.png", sample_images()[0][1], "0a:00:00:00:00:04")
        task = fairlane.api.task(receipt["task_id"], wait_s=30)
        fairlane.assert_books_balance()

    assert task["state"] == "done"
    assert not fairlane.processes("valkey-server", str(settings.valkey_socket))
    assert list((tmp_path / "s3" / "buckets" / "images").rglob("images/*/*/*/*"))
    assert not (settings.data_dir / "objects").exists()
    assert not (settings.data_dir / "fairlane.db").exists()
