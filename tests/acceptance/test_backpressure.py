"""Backpressure with the real processes: a foreign load, and two workers of which one is held."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from pipeline.settings import child_environment
from pipeline.workers.sampler import CPU_OVER, MEMORY_OVER
from tests.acceptance.conftest import Running, settings_for
from tests.support.foreign_load import foreign_load
from tests.support.processes import is_alive, wait_until

#: Seconds; other work on the machine of the tests may keep it from becoming calm for a while.
CALM_LIMIT_S = 120


def workers_of(fairlane: Running, lane: str) -> list[dict[str, Any]]:
    return [worker for worker in fairlane.api._ask("/api/workers")["workers"] if lane in worker["queues"].split(",")]


@pytest.mark.feature("M1")
@pytest.mark.feature("S4")
@pytest.mark.timeout(300)
def test_a_foreign_load_stops_the_claims_and_its_end_starts_them_again(tmp_path: Path) -> None:
    image = sample_images()[0][1]
    marks = {"worker_cpu_high_watermark": 75, "worker_cpu_low_watermark": 60, "worker_heartbeat_seconds": 1}
    settings = settings_for(tmp_path / "data", **marks)
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        fairlane = Running(settings, stack)
        with foreign_load() as burners:
            wait_until(lambda: [worker["holds"] for worker in workers_of(fairlane, "ocr")] == [[CPU_OVER]])
            task_ids = [fairlane.api.submit_image("i.png", image, "0a:00:00:00:00:05")["task_id"] for _ in range(3)]
            states = {fairlane.api.task(task_id, wait_s=2)["state"] for task_id in task_ids}
            (held,) = workers_of(fairlane, "ocr")
            assert all(is_alive(pid) for pid in burners)
        wait_until(lambda: tasks_ended(fairlane, task_ids) or is_held_by_others_still(fairlane), CALM_LIMIT_S)
        attempts = {fairlane.api.task(task_id)["attempts"] for task_id in tasks_ended(fairlane, task_ids)}
        fairlane.assert_books_balance()

    assert states == {"queued"}
    assert (held["state"], held["active_tasks"], held["effective_concurrency"]) == ("held", 0, 1)
    assert attempts <= {1}


def tasks_ended(fairlane: Running, task_ids: list[str]) -> list[str]:
    """The tasks, once all of them are done; none before."""
    return task_ids if {fairlane.api.task(task_id)["state"] for task_id in task_ids} == {"done"} else []


def is_held_by_others_still(fairlane: Running, seconds: int = 60) -> bool:
    """Say whether the machine of the tests is busy with other work for so long that the worker rightly stays held."""
    calm, clock = threading.Event(), SystemClock()
    end_ms = clock.monotonic_ms() + seconds * 1000
    while clock.monotonic_ms() < end_ms:
        (worker,) = workers_of(fairlane, "ocr")
        if worker["state"] == "working" or worker["cpu_others_percent"] <= 60:
            return False
        calm.wait(0.5)
    return True


@pytest.mark.feature("M1")
def test_one_held_worker_leaves_everything_to_the_other_and_charges_nothing(fairlane: Running) -> None:
    # Memory is always over a mark of 1 %.
    held = fairlane.settings.model_copy(update={"worker_mem_high_watermark": 1, "worker_mem_low_watermark": 0})
    command = [str(Path(sys.executable).with_name("dramatiq")), "pipeline.actors", "--queues", "text"]
    options = ["--processes", "1", "--threads", "2"]
    with subprocess.Popen([*command, *options], env=child_environment(held, []), stderr=subprocess.DEVNULL) as worker:
        try:
            # Beside the two of the Procfile.
            wait_until(lambda: len(workers_of(fairlane, "text")) == 3, 60)
            states = {worker["state"]: worker["holds"] for worker in workers_of(fairlane, "text")}
            receipts = [fairlane.api.submit_text(f"text {number}", "0a:00:00:00:00:06") for number in range(20)]
            tasks = [fairlane.api.task(receipt["task_id"], wait_s=30) for receipt in receipts]
            (other,) = (worker for worker in workers_of(fairlane, "text") if worker["state"] == "held")
        finally:
            worker.terminate()
            worker.wait(60)

    assert states == {"working": [], "held": [MEMORY_OVER]}
    assert [(task["state"], task["attempts"]) for task in tasks] == [("done", 1)] * 20
    assert other["active_tasks"] == 0
    wait_until(lambda: len(workers_of(fairlane, "text")) == 2)  # gone at once on a clean stop
    fairlane.assert_books_balance()
