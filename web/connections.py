"""gunicorn's asyncio worker, with a deadline for heads, a bound on connections, and refusals as problem documents.

gunicorn itself waits for a first head as long as the client likes and says what is wrong with one in plain text; its
protocol has no hook for either, so a subclass stands in for it (`tests/integration/web/test_slow_clients.py` notices
when a new gunicorn no longer asks it).
"""

import json
import logging
import resource
import uuid
from asyncio import TimerHandle, Transport
from typing import Any

from gunicorn.asgi.parser import ParseError
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

from web.errors import PROBLEM_JSON, Problem, wire_problem

#: Seconds for the head of the first request of a connection; later ones have gunicorn's `keepalive`.
HEAD_S = 10.0
#: Seconds in which a client must have read what was left to say when its connection is closed.
_FLUSH_S = 10.0
#: Connections of one worker; when there are more, the one that has been slow longest makes room.
CONNECTIONS_MAX = 2_000
#: Files that a worker needs besides its connections.
_OTHER_FILES = 200

_log = logging.getLogger(__name__)

#: Chunks of a body after which their average must have so many bytes: each costs the loop as much as a kilobyte, and
#: 600,000 of one byte kept everybody else waiting for 17 s.
_CHUNKS_FREE = 1_000
_CHUNK_MIN_BYTES = 256

#: Connections whose client has not yet said all of its request, the slowest first: a head, or then a body.
_slow: dict["Connection", None] = {}


class Connection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no type hints
    """One connection, which must say what it wants within `HEAD_S`."""

    _head_timer: TimerHandle | None = None
    _flush_timer: TimerHandle | None = None
    _chunks = _chunk_bytes = 0

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        self._head_timer = self.worker.loop.call_later(HEAD_S, self._refuse_slow_head)
        _slow[self] = None
        if self.worker.nr_conns > connections_max():
            slowest = next(iter(_slow))
            del _slow[slowest]
            slowest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        _slow.pop(self, None)
        if self._flush_timer:
            self._flush_timer.cancel()
        super().connection_lost(exc)

    def _on_headers_complete(self) -> Any:
        self._head_came()
        _slow.pop(self, None)
        _slow[self] = None  # its body begins now, which is later than what others are at
        self._chunks = self._chunk_bytes = 0
        return super()._on_headers_complete()

    def _on_body(self, chunk: bytes) -> None:
        self._chunks += 1
        self._chunk_bytes += len(chunk)
        is_tiny = self._chunks > _CHUNKS_FREE and self._chunk_bytes < self._chunks * _CHUNK_MIN_BYTES
        if is_tiny and self._current_request.chunked:
            raise ParseError("the chunks of the body are too small")
        super()._on_body(chunk)

    def _on_message_complete(self) -> Any:
        _slow.pop(self, None)
        return super()._on_message_complete()

    def _head_came(self) -> None:
        if self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_slow_head(self) -> None:
        self._send_error_response(408, "the head came too slowly")
        self._close_transport()

    def _is_websocket_upgrade(self, request: Any) -> bool:
        return False  # a server may ignore the wish; the request is then answered as any other

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Say it as a problem document, and in the log; `message` may quote the request and stays in the log."""
        request_id = str(uuid.uuid4())
        problem = wire_problem(status)
        client = self.transport.get_extra_info("peername") or ("",)
        fields = {"request_id": request_id, "status": status, "client": client[0], "reason": message[:200]}
        _log.log(logging.ERROR if status == 500 else logging.INFO, "request refused", extra=fields)
        self._safe_write(_raw(problem, request_id))

    def _close_transport(self) -> None:
        super()._close_transport()
        if not self._flush_timer and not self._conn_lost_handled:
            self._flush_timer = self.worker.loop.call_later(_FLUSH_S, self.transport.abort)


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    """gunicorn's worker for asyncio, serving `Connection`s."""

    def init_process(self) -> None:
        gasgi.ASGIProtocol = Connection
        raise_file_limit()
        super().init_process()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        # Long polls are answered at once when the worker is to stop.
        self.asgi.room.is_closing = lambda: not self.alive


def raise_file_limit() -> None:
    """Let this process have as many connections as it may, if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + _OTHER_FILES
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections_max() -> int:
    """Connections that this process has files for."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else min(CONNECTIONS_MAX, max(1, soft - _OTHER_FILES))


def _raw(problem: Problem, request_id: str) -> bytes:
    body = json.dumps(problem.body(request_id)).encode()
    phrase = problem.title
    head = (
        f"HTTP/1.1 {problem.status} {phrase}\r\nContent-Type: {PROBLEM_JSON}\r\nContent-Length: {len(body)}\r\n"
        f"X-Request-Id: {request_id}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
