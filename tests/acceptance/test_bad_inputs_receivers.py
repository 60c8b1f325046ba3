"""The cases of `tests/data/bad_inputs.json` about receivers that show what they are only when they are connected to:
sent to the real server, and delivered by a real worker.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from models.base import bound, connection
from models.deliveries import ChosenDeliveries, Deliveries
from models.webhook_delivery import DeliveryRow
from pipeline.clock import SystemClock
from tests.acceptance.conftest import settings_for
from tests.support.bad_inputs import MAC, expected
from tests.support.processes import wait_until
from tests.support.receivers import answering, receiving
from tests.support.ward import Ward
from tests.support.watched import Watched, assert_answer
from tests.support.web_server import WebServer

WORKER = (sys.executable, "-m", "dramatiq", "pipeline.actors", "--queues", "text", "notify", "--processes", "1")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

Started = tuple[Watched, Ward]


@pytest.fixture
def start(valkey: object, valkey_url: str, tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Start the web, a scheduler and a worker that serves texts and deliveries."""
    with ExitStack() as ends:

        def start(**options: object) -> Started:
            folder = tmp_path / "data"
            folder.mkdir()
            quick = {"redis_url": valkey_url, "key_prefix": "data:", "webhook_secrets": SECRET, "web_threads": 4}
            settings = settings_for(folder, **{**quick, **options})
            ward = Ward(settings, tmp_path, workers=1, worker=WORKER)
            server = WebServer(folder, settings)
            ends.callback(server.stop)
            ward.start()
            ends.callback(ward.stop)
            return Watched(server, valkey_url), ward

        yield start


@contextmanager
def processes_unchanged(watched: Watched, ward: Ward) -> Iterator[None]:
    pids = watched.pids()
    yield
    watched.assert_serves()
    assert watched.pids() == pids
    assert set(ward.died) == {"started"}


def submit(watched: Watched, url: str) -> bytes:
    return watched.submit(json.dumps({"mac": MAC, "text": "刷单", "words": ["刷单"], "callback_url": url}).encode())


def tried() -> DeliveryRow:
    """The only delivery, once it has been attempted."""

    def rows() -> list[DeliveryRow]:
        with connection():
            deliveries = Deliveries(bound(), SystemClock(), ttl_ms=1)
            return [row for row in deliveries.page(ChosenDeliveries(), before=None, limit=2) if row.error]

    wait_until(rows, 60)
    (row,) = rows()
    return row


@pytest.mark.feature("R4")
def test_a_name_that_leads_to_this_machine_is_not_connected_to(start: Callable[..., Started]) -> None:
    # What a name means is asked at the delivery only, so it is no matter that it may have meant something else before.
    watched, ward = start()
    with receiving() as canary, processes_unchanged(watched, ward):
        answer = submit(watched, canary.url(host="localhost", scheme="https"))
        assert_answer(watched.server, expected("webhook_dns_rebinding"), answer)
        row = tried()
    assert (row.state, canary.connections) == ("failed", 0)
    assert "is not a public address" in row.error


@pytest.mark.feature("R4")
def test_a_redirect_to_this_machine_is_a_failure_and_not_followed(start: Callable[..., Started]) -> None:
    watched, ward = start(webhook_allow_private=True, webhook_allow_http=True)
    with receiving() as canary, processes_unchanged(watched, ward):
        moved = b"HTTP/1.1 302 Found\r\nLocation: " + canary.url(host="127.0.0.1").encode() + b"\r\n\r\n"
        with receiving(answering(moved)) as receiver:
            answer = submit(watched, receiver.url(host="127.0.0.1"))
            assert_answer(watched.server, expected("webhook_redirect_internal"), answer)
            row = tried()
    assert (row.attempts, len(receiver.heard), canary.connections) == (1, 1, 0)
    assert row.state == "pending"
    assert "redirects are not followed" in row.error
