"""What is lost when a process or the queue's data is lost: nothing."""

import shutil
import signal
import threading

import pytest

from pipeline.samples import sample_images
from tests.acceptance.conftest import Running
from tests.support.processes import wait_until

MAC = "0a:00:00:00:00:03"


def running_tasks(fairlane: Running, task_ids: list[str]) -> list[str]:
    return [task_id for task_id in task_ids if fairlane.api.task(task_id)["state"] == "running"]


def begin_reading(fairlane: Running, images: int) -> list[str]:
    """Submit so many images; return their tasks once an engine reads one of them."""
    wait_until(lambda: fairlane.processes("dramatiq", "--queues ocr"), 60)
    image = sample_images()[0][1]
    task_ids = [fairlane.api.submit_image("i.png", image, MAC)["task_id"] for _ in range(images)]
    wait_until(lambda: running_tasks(fairlane, task_ids), 60)
    return task_ids


def assert_done_at_the_first_attempt(fairlane: Running, task_ids: list[str]) -> None:
    for task_id in task_ids:
        wait_until(lambda task_id=task_id: fairlane.api.task(task_id, wait_s=5)["state"] == "done", 60)
        row = fairlane.ledger.get(task_id)
        assert row is not None
        assert row.attempts == 1
    fairlane.assert_books_balance()


@pytest.mark.feature("Q8")
@pytest.mark.feature("S9")
@pytest.mark.feature("O6")
@pytest.mark.parametrize("victim", ["engine", "worker", "master"])
def test_a_task_whose_process_is_killed_runs_again_and_ends_once(fairlane: Running, victim: str) -> None:
    task_ids = begin_reading(fairlane, 3)
    (master, worker, *_) = fairlane.processes("dramatiq", "--queues ocr")
    engine = next(child for child in worker.children() if "spawn_main" in " ".join(child.cmdline()))

    {"engine": engine, "worker": worker, "master": master}[victim].kill()

    for task_id in task_ids:
        wait_until(lambda task_id=task_id: fairlane.api.task(task_id, wait_s=5)["state"] == "done", 60)
        view = fairlane.ledger.view(task_id)
        assert view is not None
        assert view.ocr is not None
    fairlane.assert_books_balance()


@pytest.mark.feature("Q21")
def test_an_emptied_queue_is_rebuilt_from_the_ledger(fairlane: Running) -> None:
    image = sample_images()[0][1]
    task_ids = [fairlane.api.submit_image("i.png", image, MAC)["task_id"] for _ in range(6)]
    (valkey,) = fairlane.processes("valkey-server", str(fairlane.settings.valkey_socket))
    valkey.kill()
    shutil.rmtree(fairlane.settings.data_dir / "valkey")

    for task_id in task_ids:
        wait_until(lambda task_id=task_id: state_of(fairlane, task_id) == "done", 90)
    fairlane.assert_books_balance()


def state_of(fairlane: Running, task_id: str) -> str:
    row = fairlane.ledger.get(task_id)
    assert row is not None
    return row.state


@pytest.mark.feature("S7")
def test_a_worker_that_is_told_to_stop_loses_nothing_and_charges_nothing(fairlane: Running) -> None:
    task_ids = begin_reading(fairlane, 4)
    (master, *_) = fairlane.processes("dramatiq", "--queues ocr")

    master.terminate()

    assert_done_at_the_first_attempt(fairlane, task_ids)


@pytest.mark.feature("S7")
def test_a_worker_that_is_told_twice_to_stop_hands_back_what_it_runs(fairlane: Running) -> None:
    task_ids = begin_reading(fairlane, 4)
    (master, worker, *_) = fairlane.processes("dramatiq", "--queues ocr")

    worker.terminate()
    threading.Event().wait(0.3)  # two signals that are sent at the same moment arrive as one
    worker.terminate()
    wait_until(lambda: not master.is_running(), 30)
    assert_done_at_the_first_attempt(fairlane, task_ids)


@pytest.mark.feature("S7")
def test_a_worker_that_hangs_up_finishes_and_begins_anew_under_the_same_pid(fairlane: Running) -> None:
    wait_until(lambda: fairlane.processes("dramatiq", "--queues text"), 60)
    (master, worker, *_) = fairlane.processes("dramatiq", "--queues text")

    master.send_signal(signal.SIGHUP)

    wait_until(lambda: not worker.is_running(), 60)
    receipt = fairlane.api.submit_text("hello", MAC)
    wait_until(lambda: fairlane.api.task(receipt["task_id"], wait_s=5)["state"] == "done", 60)
    assert master.is_running()
    fairlane.assert_books_balance()
