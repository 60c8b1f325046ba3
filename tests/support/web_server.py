"""The web process as the Procfile starts it, spoken to byte by byte."""

import json
import re
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.settings import Settings, child_environment
from tests.support.processes import wait_until

LISTENING = re.compile(r"Listening at: http://127\.0\.0\.1:(\d+)")

#: Seconds in which an answer comes, also from workers that have just been killed and must load anew on a busy machine.
_PATIENCE_S = 60


class WebServer:
    """It, with these settings, on a port of its own."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.log = folder / "web.log"
        self.folder = folder
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                read_procfile(find_procfile())["web"],
                env=child_environment(settings, program_folders()),
                cwd=folder,
                stderr=log,
                stdout=log,
            )
        wait_until(lambda: LISTENING.search(self.log.read_text()))
        found = LISTENING.search(self.log.read_text())
        assert found
        self.port = int(found[1])
        self.say(request("GET /livez HTTP/1.1"))  # the master listens before its worker has loaded us

    def say(self, *pieces: bytes, hang_up: bool = False) -> bytes:
        """Send raw bytes; return everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=_PATIENCE_S) as connection:
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
