"""A small HTTP server that answers what a test tells it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    content_type: str
    body: bytes
    authorization: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; a body that is not bytes is sent as JSON."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


class HttpService:
    """Answers each request by `answer`; keeps what it was asked, in order.

    Args:
        url: set while it serves.
    """

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.url = ""

    def reply_to(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.answer(asked)


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[HttpService]:
    """Serve on a free port of the loopback inside the block."""
    service = HttpService(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = (self.headers.get(name) or "" for name in ("Content-Type", "Authorization"))
            content_type, authorization = headers
            reply = service.reply_to(Asked(self.command, self.path, content_type, body, authorization))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode())

        do_POST = do_GET  # noqa: N815 (the name is the contract of the standard library)

        def log_message(self, *_: Any) -> None:
            """Tests have nothing to say here."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
