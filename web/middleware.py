"""What surrounds every request: its id, its one log line, and the answer when something was raised."""

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, cast

import falcon

from pipeline.clock import Clock
from pipeline.errors import FairlaneError
from pipeline.log import bound_fields
from web.errors import HttpProblem, problem_of, set_problem
from web.long_polls import is_unanswered

_log = logging.getLogger(__name__)

#: Characters of a path that are logged.
_PATH_LOGGED_MAX = 200
_PROBES = ("/livez", "/readyz")

#: Ids that a proxy may give a request: a UUID, or 32 hexadecimal digits as nginx makes them. Others are not believed.
_GIVEN_ID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[0-9A-Za-z._~-]+)(:[0-9]{0,5})?", re.ASCII)
#: Where the environ keeps what must outlast one look of a long poll.
_ID, _STARTED_MS = "fairlane.request_id", "fairlane.started_ms"


def request_id_of(req: falcon.Request) -> str:
    """The id of this request, given or made; in the answer, the problem and the log it is the same."""
    if _ID not in req.env:
        given = req.get_header("X-Request-Id", default="")
        req.env[_ID] = given if _GIVEN_ID.fullmatch(given) else str(uuid.uuid4())
    return str(req.env[_ID])


def started_ms_of(req: falcon.Request) -> int | None:
    """When the request came, on the monotonic clock; None when its head was refused before it was noted."""
    started_ms: int | None = req.env.get(_STARTED_MS)
    return started_ms


def handle_error(req: falcon.Request, resp: falcon.Response, exc: Exception, _params: dict[str, Any]) -> None:
    """Answer anything raised while a request was served; `RequestLog` logs it."""
    problem = problem_of(exc)
    req.context.failure = exc
    req.context.problem = problem
    set_problem(resp, problem, request_id_of(req))


class RequestLog:
    """Gives each request its id and logs it once, when it has been answered."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        req.env.setdefault(_STARTED_MS, self._clock.monotonic_ms())
        req.context.bindings = ExitStack()
        req.context.bindings.enter_context(bound_fields(request_id=request_id_of(req)))
        _check_head(req.env)

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        resp.set_header("X-Request-Id", request_id_of(req))
        resp.set_header("X-Content-Type-Options", "nosniff")
        resp.set_header("Cache-Control", "no-store" if req.method not in ("GET", "HEAD") else "no-cache")
        if resp.stream is not None and req.method != "HEAD":
            resp.stream = _Told(cast(Iterable[bytes], resp.stream), lambda size: self._log_line(req, resp, size))
        elif not is_unanswered(req.env):
            self._log_line(req, resp, len(resp.data or b"") if req.method != "HEAD" else 0)
        if "bindings" in req.context:
            req.context.bindings.close()

    def _log_line(self, req: falcon.Request, resp: falcon.Response, size_bytes: int) -> None:
        fields: dict[str, Any] = {
            "request_id": request_id_of(req),
            "method": req.method,
            "path": req.path[:_PATH_LOGGED_MAX],
            "status": resp.status_code,
            "bytes": size_bytes,
            "client": req.remote_addr,
        }
        if _STARTED_MS in req.env:
            fields["duration_ms"] = self._clock.monotonic_ms() - req.env[_STARTED_MS]
        caller = req.context.get("caller")
        if caller is not None:
            fields["caller"] = caller.actor
        failure = req.context.get("failure")
        if failure is not None:
            fields["code"] = req.context.problem.code
            if isinstance(failure, FairlaneError):
                fields["reason"] = str(failure)
        _log.log(
            _level(req.path, resp.status_code),
            "request",
            exc_info=failure if resp.status_code == 500 else None,
            extra=fields,
        )


def _check_head(environ: Mapping[str, Any]) -> None:
    """Refuse what gunicorn lets through, and a proxy may understand in another way.

    Source: RFC 9112, 3.2 (every request names one host) and 6.1 (an unknown transfer coding is a 501).
    """
    host = environ.get("HTTP_HOST")
    if environ.get("SERVER_PROTOCOL") == "HTTP/1.1" and not host:
        raise HttpProblem(400, "host-missing", "The Host header is missing", "HTTP/1.1 asks for it.")
    if host and not _HOST.fullmatch(host):
        raise HttpProblem(400, "host-invalid", "The Host header is not a host", "It is a name or address, and a port.")
    if environ.get("HTTP_TRANSFER_ENCODING", "chunked").strip().lower() != "chunked":
        raise falcon.HTTPNotImplemented


class _Told:
    """A streamed body that tells its length when it is over, whole or not."""

    def __init__(self, parts: Iterable[bytes], tell: Callable[[int], None]) -> None:
        self._parts = iter(parts)
        self._tell = tell
        self._size_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        part = next(self._parts)
        self._size_bytes += len(part)
        return part

    def close(self) -> None:
        self._tell(self._size_bytes)


def _level(path: str, status: int) -> int:
    if status == 500:
        return logging.ERROR
    if status > 500:
        return logging.WARNING
    return logging.DEBUG if path in _PROBES and status < 400 else logging.INFO
