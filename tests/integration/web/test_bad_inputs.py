"""Every hostile request of `tests/data/bad_inputs.json`, byte for byte, against the web process as the Procfile starts
it; and after each of them the process is the same, nothing was stored, and the next good request is served.
"""

import json
from collections.abc import Callable

import psutil
import pytest
import redis

from tests.support import bad_inputs
from tests.support.bad_inputs import MAC, Case, raw_request
from tests.support.web_server import WebServer, status

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps({"mac": MAC, "text": "good"}).encode()


class Watched:
    """A server, and all that a request could change."""

    def __init__(self, server: WebServer, valkey_url: str) -> None:
        self.server, self._valkey = server, redis.Redis.from_url(valkey_url)

    def pids(self) -> list[int]:
        own = psutil.Process(self.server.process.pid)
        return sorted([own.pid, *(child.pid for child in own.children(recursive=True))])

    def traces(self) -> tuple[int, int, int]:
        """Rows, keys and objects."""
        keys = sum(1 for _ in self._valkey.scan_iter(f"{self.server.folder.name}:*"))
        objects = [path for path in (self.server.folder / "objects").rglob("*") if path.is_file()]
        return self.server.accepted(), keys, len(objects)

    def assert_serves(self) -> None:
        assert status(self.server.say(raw_request("POST", "/api/ocr/text", JSON, GOOD))) == 202


@pytest.fixture(scope="module")
def watched(server_of: Callable[..., WebServer], valkey_url: str) -> Watched:
    watched = Watched(server_of(), valkey_url)
    body = json.dumps({"mac": MAC, "text": "x", "task_id": "ended"}).encode()
    assert status(watched.server.say(raw_request("POST", "/api/ocr/text", JSON, body))) == 202
    assert status(watched.server.say(raw_request("DELETE", "/api/ocr/tasks/ended", {}, b""))) == 200
    return watched


def test_every_case_is_played_here_or_named_with_what_it_needs() -> None:
    played = {case.name for case in bad_inputs.cases()}
    elsewhere = set().union(*bad_inputs.ELSEWHERE.values())
    webhooks = {case["name"] for case in bad_inputs.all_cases() if case["name"].startswith("webhook_")}
    assert played | elsewhere | webhooks == {case["name"] for case in bad_inputs.all_cases()}
    assert len(played) > 70


@pytest.mark.feature("H2")
@pytest.mark.parametrize("case", bad_inputs.cases(), ids=lambda case: case.name)
def test_a_hostile_request_gets_its_answer_and_changes_nothing(watched: Watched, case: Case) -> None:
    pids, before = watched.pids(), watched.traces()
    answer = watched.server.say(case.raw, hang_up=case.hangs_up)
    if not case.hangs_up:
        assert_answer(watched.server, case, answer)
    if case.hangs_up or status(answer) >= 300:
        assert watched.traces() == before
    watched.assert_serves()
    assert watched.pids() == pids


def assert_answer(server: WebServer, case: Case, answer: bytes) -> None:
    assert status(answer) in case.statuses, answer[:300]
    if status(answer) < 400:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    document = json.loads(body)
    assert b"content-type: application/problem+json" in head.lower()
    assert {"type", "title", "status", "detail", "instance", "request_id"} <= set(document)
    if case.type and case.type[0] == status(answer):
        assert document["type"] == case.type[1]
    logged = [line for line in server.lines() if line.get("request_id") == document["request_id"]]
    assert [line["status"] for line in logged] == [status(answer)]
    assert f"x-request-id: {document['request_id']}".encode() in head.lower()
