"""The span of a request that submits something: the first of its trace, or one of the caller's."""

import falcon

from pipeline import tracing
from pipeline.tracing import Scope, Traces

#: What begins a trace: the rest changes nothing that is worked on, and a dashboard asks for it every second.
_SUBMITS = frozenset({"/api/ocr/image", "/api/ocr/text"})


class RequestTraces:
    """Begins below the `traceparent` header where that is one, so the caller's sampling holds, too.

    It stands behind those that let in: whoever is refused there begins no trace.
    """

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: object, params: dict[str, str]
    ) -> None:
        if req.method == "POST" and req.uri_template in _SUBMITS:
            notes = {"http.request.method": req.method, "http.route": req.uri_template}
            span = self._traces.begin(f"POST {req.uri_template}", req.get_header("traceparent"), "server", notes)
            req.context.trace = Scope(span)

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        scope = req.context.get("trace")
        if scope is not None:
            tracing.note("http.response.status_code", resp.status_code)
            scope.close(req.context.get("failure"))
