"""`/metrics` from real web processes: several count as one, and a killed one takes nothing with it."""

import os
import signal
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tests.integration.web.test_metrics import of, samples
from tests.support.processes import wait_until
from tests.support.web_server import WebServer, request

LIVEZ = {"method": "GET", "route": "/livez", "status": "200"}


def scrape(server: WebServer) -> dict[Any, float]:
    head, _, body = server.say(request("GET /metrics HTTP/1.1")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    return samples(body.decode())


def lives(server: WebServer) -> float:
    found = scrape(server)
    return found.get(("fairlane_http_requests_total", *sorted(LIVEZ.items())), 0)


@pytest.mark.feature("H5")
def test_two_processes_count_as_one_and_a_killed_one_takes_nothing_with_it(
    server_of: Callable[..., WebServer],
) -> None:
    server = server_of(web_workers=2)
    began = lives(server)
    wait_until(lambda: lives(server) >= 1)  # that of the start
    for _ in range(40):
        server.say(request("GET /livez HTTP/1.1"))
    wait_until(lambda: lives(server) == 41)
    workers = psutil.Process(server.process.pid).children()
    assert len(workers) == 2

    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: len(set(psutil.Process(server.process.pid).children()) - set(workers)) == 2)

    assert began <= 1
    assert lives(server) == 41
    assert of(scrape(server), "up", part="database") == 1


@pytest.mark.feature("H5")
def test_a_process_that_stops_writes_what_it_has_counted(server_of: Callable[..., WebServer]) -> None:
    server = server_of(rate_per_address=60)
    other = server_of(rate_per_address=60, key_prefix=f"{server.folder.name}:")
    for _ in range(5):
        server.say(request("GET /livez HTTP/1.1"))

    server.stop()

    assert lives(other) >= 5
