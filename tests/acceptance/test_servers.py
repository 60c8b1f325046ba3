"""The same processes on servers of one's own: three settings change, nothing else."""

import threading
from pathlib import Path

import pytest
import redis

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running, settings_for


@pytest.mark.feature("R3")
def test_the_main_job_runs_on_a_redis_server_and_on_either_database(
    valkey: redis.Redis, valkey_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        database_url=empty_database_url,
        storage_url=str(tmp_path / "elsewhere"),
    )
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        fairlane = Running(settings, stack)
        receipt = fairlane.api.submit_image("i.png", sample_images()[0][1], "0a:00:00:00:00:04")
        task = fairlane.api.task(receipt["task_id"], wait_s=30)
        fairlane.assert_books_balance()

    assert task["state"] == "done"
    assert not fairlane.processes("valkey-server", str(settings.valkey_socket))
    assert list((tmp_path / "elsewhere").rglob("images/*/*/*/*"))
    assert not (settings.data_dir / "fairlane.db").exists()
