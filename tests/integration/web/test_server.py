"""The application behind gunicorn, spoken to byte by byte."""

import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.settings import Settings, environment_of
from tests.support.processes import wait_until

BODY = b'{"mac":"aabbccddeeff","text":"hello"}'
LISTENING = re.compile(r"Listening at: http://127\.0\.0\.1:(\d+)")


class WebServer:
    """gunicorn with our settings, on a port of its own."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.log = folder / "web.log"
        self.folder = folder
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "-c", "python:web.gunicorn_settings", "web.wsgi:app"],
                env=environment_of(settings),
                cwd=folder,
                stderr=log,
                stdout=log,
            )
        wait_until(lambda: LISTENING.search(self.log.read_text()))
        found = LISTENING.search(self.log.read_text())
        assert found
        self.port = int(found[1])

    def say(self, *pieces: bytes, hang_up: bool = False) -> bytes:
        """Send raw bytes; return everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            for piece in pieces:
                connection.sendall(piece)
            if hang_up:
                return b""
            answer = b""
            while more := connection.recv(65_536):
                answer += more
            return answer

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def accepted(self) -> int:
        # Not through the models: this process binds them to the databases of other tests.
        with closing(sqlite3.connect(self.folder / "fairlane.db")) as database:
            return int(database.execute("SELECT COUNT(*) FROM task").fetchone()[0])

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path, valkey_url: str) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("web")
    shutil.copyfile(migrated_sqlite, folder / "fairlane.db")
    settings = Settings(
        _env_file=None,
        data_dir=folder,
        redis_url=valkey_url,
        key_prefix="web-server-test:",
        web_bind="127.0.0.1:0",
        web_threads=4,
        long_poll_max_seconds=1,
    )
    server = WebServer(folder, settings)
    yield server
    server.stop()


def request(line: str, *headers: str, body: bytes = b"", host: str = "Host: localhost") -> bytes:
    head = [line, *([host] if host else []), "Connection: close", *headers]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def post(*headers: str, body: bytes = b"", path: str = "/api/ocr/text") -> bytes:
    return request(f"POST {path} HTTP/1.1", "Content-Type: application/json", *headers, body=body)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def problem(answer: bytes) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    return dict(json.loads(body))


def test_a_text_is_accepted(server):
    assert status(server.say(post(f"Content-Length: {len(BODY)}", body=BODY))) == 202


def test_a_chunked_body_is_accepted(server):
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    assert status(server.say(post("Transfer-Encoding: chunked", body=chunked))) == 202


@pytest.mark.parametrize("chunks", [b"zz\r\n{}\r\n0\r\n\r\n", b"2\r\n{}xx0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n"])
def test_a_broken_chunk_is_a_problem_of_the_client(server, chunks):
    before = server.accepted()
    answer = server.say(post("Transfer-Encoding: chunked", body=chunks))
    assert (status(answer), problem(answer)["type"]) == (400, "/problems/incomplete-body")
    assert server.accepted() == before


@pytest.mark.parametrize(
    "raw",
    [
        post("Content-Length: 7", "Content-Length: 8", body=b'{"a":1}'),
        post("Content-Length: 7, 8", body=b'{"a":1}'),
        post("Content-Length: -1"),
        post("Content-Length: abc"),
        post("Transfer-Encoding: xchunked", body=b'{"a":1}'),
        post("Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"),
        post("Content-Length : 7", body=b'{"a":1}'),
        request("GET /livez HTTP/1.1", "X-A: b\r\n c"),
        request("GET /livez HTTP/1.1", "X-A: a\x00b"),
        request("GET /livez HTTP/1.1", "X-A: a\rb"),
        request("GET /livez HTTP/1.1", "X-A: " + "a" * 20_000),
        request("GET /livez HTTP/1.1", host="Host: a\r\nHost: b"),
        request("GET /livez HTTP/1.1", host=""),
        request("GET /livez HTTP/3.0"),
        request(f"GET /livez?q={'a' * 9_000} HTTP/1.1"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(server, raw):
    assert status(server.say(raw)) in (400, 414, 431, 501, 505)


def test_a_missing_host_is_a_problem(server):
    answer = server.say(request("GET /livez HTTP/1.1", host=""))
    assert (status(answer), problem(answer)["type"]) == (400, "/problems/host-missing")


def test_a_huge_body_is_refused_unread(server):
    answer = server.say(post("Content-Length: 1000000000"))
    assert (status(answer), problem(answer)["type"]) == (413, "/problems/body-too-large")


@pytest.mark.parametrize("path", ["/api/ocr/text", "/api/ocr/image?mac=aabbccddeeff"])
def test_a_client_that_hangs_up_leaves_nothing(server, path):
    before, logged = server.accepted(), len(server.lines())
    media_type = "image/png" if "image" in path else "application/json"
    head = request(f"POST {path} HTTP/1.1", f"Content-Type: {media_type}", "Content-Length: 100000")
    server.say(head, b"x" * 5_000, hang_up=True)
    wait_until(lambda: len(server.lines()) > logged)
    assert server.lines()[-1]["status"] == 400
    assert server.accepted() == before
    assert not [path for path in (server.folder / "objects").rglob("*") if path.is_file()]


def test_each_request_is_one_line_of_json_with_its_id(server):
    answer = server.say(request("GET /nowhere HTTP/1.1"))
    request_id = problem(answer)["request_id"]
    lines = [line for line in server.lines() if line.get("request_id") == request_id]
    assert [(line["path"], line["status"], line["code"]) for line in lines] == [("/nowhere", 404, "http")]


def test_it_ends_well_when_asked_to(server):
    assert server.process.poll() is None
    assert server.stop() == 0
    assert all("level" in line and "time" in line for line in server.lines())
