"""A host that requires a GPU: without one, images wait for the scheduler's word, and then are read all the same."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from pipeline.workers.gpu_probe import GpuProbe
from tests.acceptance.conftest import Running, settings_for


@pytest.fixture
def demanding(tmp_path: Path) -> Iterator[Running]:
    settings = settings_for(
        tmp_path, ocr_requires_gpu=True, no_worker_strategy="cpu", worker_heartbeat_seconds=1, worker_ttl_seconds=5
    )
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        yield Running(settings, stack)


@pytest.mark.feature("S5")
def test_without_a_gpu_the_cpu_reads_the_image_once_the_grace_is_over(demanding: Running) -> None:
    name, data = sample_images()[0]
    task_id = demanding.api.submit_image(name, data, "aabbccddeeff")["task_id"]

    task = demanding.api.task(task_id, wait_s=30)
    lane = demanding.api._ask("/api/watermark")["lanes"]["ocr"]

    assert (task["state"], task["attempts"]) == ("done", 1)
    assert lane["is_downgraded"] is (GpuProbe().read() is None)
    assert lane["workers"] == 1
    assert demanding.api._ask("/api/scale")["lanes"]["ocr"]["desired_workers"] >= 1
    demanding.assert_books_balance()
