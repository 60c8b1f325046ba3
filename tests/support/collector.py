"""A collector of traces: takes OTLP over HTTP on a real port and keeps what it was sent."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Notes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SentSpan:
    """One span as it came; ids in hexadecimal digits, times in epoch ns."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    began_ns: int
    ended_ns: int
    notes: Notes
    links: tuple[str, ...]
    process: str
    has_failed: bool


@dataclass
class Collector:
    """What has come so far.

    Args:
        status: with which it answers.
    """

    port: int = 0
    status: int = 200
    requests: int = 0
    spans: list[SentSpan] = field(default_factory=list)
    #: All that was sent, as it came.
    raw: bytes = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/traces"

    def of(self, trace_id: str) -> list[SentSpan]:
        return [span for span in self.spans if span.trace_id == trace_id]

    def take(self, body: bytes) -> None:
        self.raw += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            process = _notes(resource.resource.attributes)["fairlane.process"]
            for scope in resource.scope_spans:
                self.spans += [_span(span, process) for span in scope.spans]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Serve on a free port inside the block."""
    collector = Collector()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.requests += 1
            if collector.status == 200:
                collector.take(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        collector.port = server.server_address[1]
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        try:
            yield collector
        finally:
            server.shutdown()
            serving.join()


def _span(span: Any, process: str) -> SentSpan:
    return SentSpan(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        began_ns=span.start_time_unix_nano,
        ended_ns=span.end_time_unix_nano,
        notes=_notes(span.attributes),
        links=tuple(link.span_id.hex() for link in span.links),
        process=process,
        has_failed=span.status.code == 2,
    )


def _notes(attributes: Any) -> Notes:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
