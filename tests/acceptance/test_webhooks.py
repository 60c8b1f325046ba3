"""Announcements by real processes: a worker that serves texts and deliveries, a scheduler, a receiver beside them."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from models.base import bound, connection
from models.deliveries import ChosenDeliveries, Deliveries
from models.webhook_delivery import DeliveryRow
from pipeline.clock import SystemClock
from pipeline.submission import TextSubmission
from tests.acceptance.conftest import settings_for
from tests.support.processes import wait_until
from tests.support.receivers import Receiver, receiving, silent, thanking
from tests.support.ward import Ward

WORKER = (sys.executable, "-m", "dramatiq", "pipeline.actors", "--queues", "text", "notify", "--processes", "1")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MAC = "aabbccddeeff"


@pytest.fixture
def ward(valkey: object, valkey_url: str, tmp_path: Path) -> Iterator[Ward]:
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        lease_seconds=5,
        lease_renew_seconds=1,
        webhook_secrets=SECRET,
        webhook_allow_private=True,
        webhook_allow_http=True,
        webhook_timeout_seconds=5,
    )
    settings.data_dir.mkdir()
    ward = Ward(settings, tmp_path, workers=1, worker=WORKER)
    ward.start()
    yield ward
    ward.stop()


def submit(ward: Ward, receiver: Receiver, text: str = "刷单兼职") -> str:
    url = receiver.url(host="127.0.0.1")
    wanted = TextSubmission(mac=MAC, text=text, words=("刷单",), callback_url=url)
    return ward.intake.submit_text(wanted).task_id


def delivery_of(task_id: str) -> DeliveryRow:
    with connection():
        deliveries = Deliveries(bound(), SystemClock(), ttl_ms=1)
        return deliveries.page(ChosenDeliveries(task_id=task_id), before=None, limit=1)[0]


def stands(task_id: str, state: str) -> Callable[[], bool]:
    return lambda: delivery_of(task_id).state == state


@pytest.mark.feature("R4")
def test_a_hit_is_announced_within_seconds_and_a_silent_receiver_holds_no_text_up(ward: Ward) -> None:
    with receiving() as receiver, receiving(silent) as mute:
        held = [submit(ward, mute) for _ in range(4)]
        task_id = submit(ward, receiver)
        assert ward.end_of(task_id) == ("done", "")
        wait_until(lambda: mute.connections)
        # The threads for deliveries wait for the mute one; texts go on.
        for _ in range(5):
            assert ward.end_of(submit(ward, receiver, "hello")) == ("done", "")
        wait_until(stands(task_id, "delivered"), 60)

    (heard,) = receiver.heard
    assert json.loads(heard.body)["data"]["task_id"] == task_id
    assert all(delivery_of(one).state == "pending" for one in held)


@pytest.mark.feature("R4")
@pytest.mark.feature("Q8")
def test_a_worker_killed_amid_a_delivery_leaves_it_to_its_successor(ward: Ward) -> None:
    with receiving(silent) as receiver:
        task_id = submit(ward, receiver)
        wait_until(lambda: receiver.heard, 60)
        receiver.manner = thanking
        workers = [one for one in psutil.Process().children() if "pipeline.actors" in " ".join(one.cmdline())]
        for process in [*workers[0].children(recursive=True), *workers]:
            process.kill()

        wait_until(stands(task_id, "delivered"), 60)

    assert delivery_of(task_id).attempts == 2
    first, second = receiver.heard
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))
