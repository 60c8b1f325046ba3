"""Whoever lives beside a worker that died gives up its leases; the sweep takes the tasks back at once."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from pipeline.middleware import Survivor
from pipeline.queue import FairQueue
from tests.integration.worker.conftest import RULES, Shop
from tests.support.processes import wait_until

_DYING = """
import os, signal, sys
from pathlib import Path
import redis
from pipeline.queue import FairQueue, Rules
from pipeline.slots import Slots
from pipeline.workers.held import HeldNote
note, slots = HeldNote(Path(sys.argv[2])), Slots()
note.open()
slots.keep_note(note.write)
for claim in FairQueue(redis.Redis.from_url(sys.argv[1]), Rules(lease_ms=600_000)).claim("text"):
    slots.fill([claim])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.feature("Q8")
def test_a_task_whose_worker_died_here_does_not_wait_for_the_end_of_its_lease(
    shop: Shop, valkey: redis.Redis, valkey_url: str, tmp_path: Path
) -> None:
    shop.broker.add_middleware(Survivor(FairQueue(valkey, RULES), tmp_path / "held"))
    shop.submit("t")
    subprocess.run([sys.executable, "-c", _DYING, valkey_url, str(tmp_path / "held")], check=False, timeout=30)
    assert shop.queue.reap("text") == []

    shop.start()

    wait_until(lambda: shop.queue.reap("text") or shop.calls)
    wait_until(lambda: (row := shop.ledger.get("t")) and row.state == "done")
    found = shop.inspector.find("t")
    assert found is not None
    assert found.losses == 1


@pytest.mark.feature("Q8")
def test_a_worker_that_cannot_note_anything_works(shop: Shop, valkey: redis.Redis, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shop.broker.add_middleware(Survivor(FairQueue(valkey, RULES), tmp_path / "file"))
    shop.submit("t")

    shop.start()

    wait_until(lambda: (row := shop.ledger.get("t")) and row.state == "done")


@pytest.mark.feature("Q8")
def test_a_full_disk_keeps_nobody_from_working(
    shop: Shop, valkey: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)
    shop.broker.add_middleware(Survivor(FairQueue(valkey, RULES), tmp_path / "held"))
    shop.submit("t")

    shop.start()

    wait_until(lambda: (row := shop.ledger.get("t")) and row.state == "done")


def test_a_worker_that_stops_takes_its_note_away(shop: Shop, valkey: redis.Redis, tmp_path: Path) -> None:
    shop.broker.add_middleware(Survivor(FairQueue(valkey, RULES), tmp_path / "held"))
    shop.start()
    wait_until(lambda: list((tmp_path / "held").glob("*")))

    shop.stop()

    assert list((tmp_path / "held").glob("*")) == []
