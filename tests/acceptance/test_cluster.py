"""The same processes on a Cluster: two settings change, nothing else."""

import tempfile
import threading
from pathlib import Path

from pipeline.clock import SystemClock
from pipeline.queue import TaskState
from pipeline.runner.stack import Stack
from tests.acceptance.conftest import Running, settings_for
from tests.support.clusters import started_cluster
from tests.support.processes import wait_until

DEVICES = 8


def test_texts_of_many_devices_are_done_on_a_cluster(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, started_cluster(Path(folder)) as cluster:
        settings = settings_for(tmp_path / "data", redis_url=cluster.url, queue_shards=4)
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            fairlane = Running(settings, stack)
            receipts = [
                fairlane.api.submit_text("nothing to see", f"0a:00:00:00:00:{device:02x}") for device in range(DEVICES)
            ]
            states = {fairlane.api.task(receipt["task_id"], wait_s=30)["state"] for receipt in receipts}
            # The ledger knows an end a moment before the queue does.
            wait_until(lambda: fairlane.inspector.audit()[1].ended[TaskState.DONE] == DEVICES)
            fairlane.assert_books_balance()

    assert states == {"done"}
