"""Counts every request that is answered, and why those are refused that could have been taken at another time."""

from collections.abc import Sequence
from typing import Any

import falcon

from pipeline import metrics
from pipeline.clock import Clock
from pipeline.errors import Overload, Retryable
from pipeline.queue import Counters
from web.long_polls import is_unanswered
from web.middleware import started_ms_of

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: What stands for all that no route serves, and for all methods that HTTP does not know.
_OTHER = "other"


class RequestCounting:
    """The middleware that counts; long polls once, when they are answered."""

    def __init__(self, counters: Counters, clock: Clock) -> None:
        self._counters = counters
        self._clock = clock

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        if is_unanswered(req.env):
            return
        method = req.method if req.method in _METHODS else _OTHER
        route = req.uri_template or _OTHER
        self._counters.count(metrics.HTTP_REQUESTS, method, route, str(resp.status_code))
        started_ms = started_ms_of(req)
        if started_ms is not None:
            took_ms = max(0, self._clock.monotonic_ms() - started_ms)
            self._counters.observe(metrics.HTTP_REQUEST, method, route, took_ms=took_ms)
        for failure in (req.context.get("failure"), *_refused_in(req)):
            if isinstance(failure, Overload | Retryable):
                self._counters.count(metrics.REFUSALS, failure.code)


def note_refusal(req: falcon.Request, failure: Exception) -> None:
    """Count a refusal of one part of a request that is answered as a whole."""
    req.context.refused = [*_refused_in(req), failure]


def _refused_in(req: falcon.Request) -> Sequence[Any]:
    return req.context.get("refused") or ()
