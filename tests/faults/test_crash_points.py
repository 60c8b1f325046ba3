"""Kill -9 between any two steps of intake and of a worker: nothing is lost, nothing is done twice.

`TEST_LONG=1` in front of pytest kills twenty times at each step instead of three times.
"""

import multiprocessing
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from models.base import connection
from models.results import Detection, OcrResult
from models.tasks import Task, TaskStep
from tests.acceptance.conftest import settings_for
from tests.support import crashers
from tests.support.processes import wait_until
from tests.support.scale import is_long
from tests.support.ward import Ward

KILLS = 20 if is_long() else 3
#: A fork of a process that has imported everything, and opened nothing.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.support.crashers"])

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def house(valkey: object, valkey_url: str, empty_database_url: str, tmp_path: Path) -> Iterator[Ward]:
    """A scheduler, and no worker."""
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        database_url=empty_database_url,
        lease_seconds=5,
        lease_renew_seconds=1,
        reconcile_interval_seconds=1,
        max_deliveries=1_000,
    )
    settings.data_dir.mkdir()
    house = Ward(settings, tmp_path, workers=0)
    house.start()
    yield house
    house.stop()


def run(target: object, *args: object) -> BaseProcess:
    process = CONTEXT.Process(target=target, args=args, daemon=True)  # type: ignore[arg-type]
    process.start()
    return process


def kill_at(target: object, *args: object) -> None:
    """Run a process that dies at its point."""
    process = run(target, *args)
    process.join(60)
    died_by = process.exitcode
    process.kill()  # one that missed its point would work on for the tests that follow
    assert died_by == -9


def drain(house: Ward) -> None:
    """Let a worker end everything that was accepted."""
    worker = run(crashers.work, house.settings, None)
    wait_until(lambda: not house.ledger.open_tasks(None, 1), 120)
    wait_until(lambda: all(books.balances and books.leased == 0 for books in house.inspector.audit()), 60)
    worker.kill()
    worker.join()


def assert_done_once(house: Ward, task_id: str) -> None:
    """The task ended well, with one result, and its image was kept once."""
    row = house.row_of(task_id)
    assert (row.state, row.code) == ("done", "")
    with connection():
        for table in (OcrResult, Detection):
            assert table.select().where(table.task == task_id).count() == 1
        steps = [step.name for step in TaskStep.select().where(TaskStep.task == task_id)]
    assert len(steps) == len(set(steps))
    audit = house.settings.data_dir / "objects" / "audit"
    assert len(list(audit.rglob(task_id))) == 1


@pytest.mark.feature("R2")
@pytest.mark.parametrize("point", crashers.INTAKE_POINTS)
def test_a_kill_in_intake_leaves_a_task_that_ends_once_or_no_task_at_all(house: Ward, point: str) -> None:
    task_ids = [f"t{number}" for number in range(KILLS)]
    for number, task_id in enumerate(task_ids):
        kill_at(crashers.accept, house.settings, point, task_id, f"0a00000000{number:02x}")
    # The client got no answer, and asks again as it should: what is there is not accepted a second time.
    for number, task_id in enumerate(task_ids[::2]):
        again = house.submit_again(task_id, f"0a00000000{2 * number:02x}")
        assert again.is_duplicate == (point != "object stored")

    drain(house)

    with connection():
        known = {task.task_id for task in Task.select()}
    assert known == set(task_ids if point != "object stored" else task_ids[::2])
    for task_id in known:
        assert_done_once(house, task_id)
    for task_id in set(task_ids) - known:
        assert house.inspector.find(task_id) is None


@pytest.mark.feature("R2")
@pytest.mark.feature("Q8")
@pytest.mark.parametrize("point", crashers.WORKER_POINTS)
def test_a_kill_in_a_worker_costs_no_task_and_doubles_no_result(house: Ward, point: str) -> None:
    task_ids = [house.submit(b"", f"0a00000000{number:02x}") for number in range(KILLS)]
    for _ in range(KILLS):
        kill_at(crashers.work, house.settings, point)

    drain(house)

    for task_id in task_ids:
        assert_done_once(house, task_id)
