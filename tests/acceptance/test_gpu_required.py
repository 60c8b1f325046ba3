"""A host that requires a GPU: without one, images wait for the scheduler's word, and then are read all the same."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running, settings_for
from tests.support.parts import ocr_worker
from tests.support.processes import wait_until
from tests.support.ward import Ward

DEMANDS = {
    "ocr_requires_gpu": True,
    "no_worker_strategy": "cpu",
    "worker_heartbeat_seconds": 1,
    "worker_ttl_seconds": 5,
}


@pytest.fixture
def demanding(tmp_path: Path) -> Iterator[Running]:
    settings = settings_for(tmp_path, **DEMANDS, ocr_engine="rapid")
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        yield Running(settings, stack)


@pytest.fixture
def ward(valkey: object, valkey_url: str, tmp_path: Path) -> Iterator[Ward]:
    """One worker with a pretended GPU, and a scheduler."""
    settings = settings_for(tmp_path / "data", redis_url=valkey_url, **DEMANDS)
    settings.data_dir.mkdir()
    (settings.data_dir / "gpu").touch()
    ward = Ward(settings, tmp_path, workers=1, worker=ocr_worker("gpu_worker"))
    ward.start()
    yield ward
    ward.stop()


@pytest.mark.feature("S5")
def test_without_a_gpu_the_cpu_reads_the_image_once_the_grace_is_over(demanding: Running) -> None:
    name, data = sample_images()[0]
    task_id = demanding.api.submit_image(name, data, "aabbccddeeff")["task_id"]

    task = demanding.api.task(task_id, wait_s=30)
    lane = demanding.api._ask("/api/watermark")["lanes"]["ocr"]

    assert (task["state"], task["attempts"]) == ("done", 1)
    assert lane["is_downgraded"]
    assert lane["workers"] == 1
    assert demanding.api._ask("/api/scale")["lanes"]["ocr"]["desired_workers"] >= 1
    demanding.assert_books_balance()


@pytest.mark.feature("O5")
@pytest.mark.feature("S5")
def test_a_gpu_that_is_lost_amid_the_work_costs_no_attempt_is_announced_and_won_back(ward: Ward) -> None:
    first = ward.submit(b"take a fifth", "0a0000000001")
    assert ward.end_of(first) == ("done", "")
    (ward.settings.data_dir / "gpu").unlink()

    tasks = [ward.submit(b"take a fifth", f"0a00000000{number:02x}") for number in range(6)]

    wait_until(lambda: presence_of(ward) == ("rapid", "0"))
    assert [ward.end_of(task) for task in tasks] == [("done", "")] * 6
    (ward.settings.data_dir / "gpu").touch()
    wait_until(lambda: presence_of(ward) == ("paddle", "1"))
    last = ward.submit(b"", "0a0000000001")
    assert ward.end_of(last) == ("done", "")
    assert {ward.row_of(task).attempts for task in (first, *tasks, last)} == {1}
    assert [engine_of(ward, task) for task in (first, tasks[0], last)] == ["gpu", "obedient", "gpu"]
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))


def presence_of(ward: Ward) -> tuple[str, str]:
    """The engine of the only worker, and whether it says that it has a GPU."""
    entries = ward.roster.workers()
    return (entries[0]["engine"], entries[0]["gpu_available"]) if entries else ("", "")


def engine_of(ward: Ward, task_id: str) -> str:
    view = ward.ledger.view(task_id)
    assert view
    assert view.ocr
    return view.ocr.engine
