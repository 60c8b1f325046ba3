"""A server under hostile requests, and what must hold after each of them."""

import json
from collections.abc import Callable, Mapping

import psutil
import redis

from tests.support.bad_inputs import MAC, Expected, raw_request
from tests.support.web_server import WebServer, status

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps({"mac": MAC, "text": "good"}).encode()
#: What is counted and remembered of requests, not of what they asked for.
_BOOKKEEPING = (b":limit:", b":nonce:", b":counters")


class Watched:
    """A server, and all that a request could change.

    Args:
        headers: what a good request needs, a key above all.
        rows: counts the accepted tasks where they are not in the embedded database.
    """

    def __init__(
        self,
        server: WebServer,
        valkey_url: str,
        headers: Mapping[str, str] | None = None,
        rows: Callable[[], int] | None = None,
    ) -> None:
        self.server, self._valkey = server, redis.Redis.from_url(valkey_url)
        self._headers = {**JSON, **(headers or {})}
        self._rows = rows or server.accepted

    def pids(self) -> list[int]:
        own = psutil.Process(self.server.process.pid)
        return sorted([own.pid, *(child.pid for child in own.children(recursive=True))])

    def traces(self) -> tuple[int, int, int]:
        """Rows, keys and objects."""
        found = self._valkey.scan_iter(f"{self.server.folder.name}:*")
        keys = sum(1 for key in found if not any(word in key for word in _BOOKKEEPING))
        objects = [path for path in (self.server.folder / "objects").rglob("*") if path.is_file()]
        return self._rows(), keys, len(objects)

    def submit(self, body: bytes = GOOD, **headers: str) -> bytes:
        """What is answered to a text, sent with a good key."""
        return self.server.say(raw_request("POST", "/api/ocr/text", {**self._headers, **headers}, body))

    def assert_serves(self) -> None:
        answer = self.submit()
        assert status(answer) == 202, answer

    def assert_answers(self, raw: bytes, expected: Expected) -> bytes:
        """Send it, get what is expected, and see that nothing else has changed; return the answer."""
        pids, before = self.pids(), self.traces()
        answer = self.server.say(raw)
        assert_answer(self.server, expected, answer)
        if status(answer) >= 300:
            assert self.traces() == before
        assert self.pids() == pids
        return answer


def assert_answer(server: WebServer, expected: Expected, answer: bytes) -> None:
    """The status is one of those expected; an error is a problem document whose request is found once in the log."""
    assert status(answer) in expected.statuses, answer[:300]
    if status(answer) < 400:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    document = json.loads(body)
    assert b"content-type: application/problem+json" in head.lower()
    assert {"type", "title", "status", "detail", "instance", "request_id"} <= set(document)
    if expected.type and expected.type[0] == status(answer):
        assert document["type"] == expected.type[1]
    logged = [line for line in server.lines() if line.get("request_id") == document["request_id"] and "status" in line]
    assert [line["status"] for line in logged] == [status(answer)]
    assert f"x-request-id: {document['request_id']}".encode() in head.lower()


def header(answer: bytes, name: str) -> str:
    """A header of an answer; empty when it has none."""
    for line in answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n"):
        found, _, value = line.partition(":")
        if found.lower() == name.lower():
            return value.strip()
    return ""
