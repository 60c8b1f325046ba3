"""What surrounds every request: its id, its one log line, and the answer when something was raised."""

import logging
import uuid
from contextlib import ExitStack
from typing import Any

import falcon

from pipeline.clock import Clock
from pipeline.errors import FairlaneError
from pipeline.log import bound_fields
from web.errors import HttpProblem, problem_of, set_problem

_log = logging.getLogger(__name__)

#: Characters of a path that are logged.
_PATH_LOGGED_MAX = 200
_PROBES = ("/livez", "/readyz")


def request_id_of(req: falcon.Request) -> str:
    """The id of this request, made at the first question; in the answer, the problem and the log it is the same."""
    if "request_id" not in req.context:
        req.context.request_id = str(uuid.uuid4())
    return str(req.context.request_id)


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
        req.context.started_ms = self._clock.monotonic_ms()
        req.context.bindings = ExitStack()
        req.context.bindings.enter_context(bound_fields(request_id=request_id_of(req)))
        # gunicorn does not insist on it; a request without a host has no place behind a proxy. Source: RFC 9112, 3.2.
        if req.env.get("SERVER_PROTOCOL") == "HTTP/1.1" and not req.env.get("HTTP_HOST"):
            raise HttpProblem(400, "host-missing", "The Host header is missing", "HTTP/1.1 asks for it.")

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        resp.set_header("X-Request-Id", request_id_of(req))
        resp.set_header("X-Content-Type-Options", "nosniff")
        resp.set_header("Cache-Control", "no-store" if req.method != "GET" else "no-cache")
        self._log_line(req, resp)
        if "bindings" in req.context:
            req.context.bindings.close()

    def _log_line(self, req: falcon.Request, resp: falcon.Response) -> None:
        fields: dict[str, Any] = {
            "request_id": request_id_of(req),
            "method": req.method,
            "path": req.path[:_PATH_LOGGED_MAX],
            "status": resp.status_code,
            "client": req.remote_addr,
        }
        if "started_ms" in req.context:
            fields["duration_ms"] = self._clock.monotonic_ms() - req.context.started_ms
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


def _level(path: str, status: int) -> int:
    if status == 500:
        return logging.ERROR
    if status > 500:
        return logging.WARNING
    return logging.DEBUG if path in _PROBES else logging.INFO
