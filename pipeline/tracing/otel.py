"""Spans by OpenTelemetry: the only module that touches it."""

import logging
import socket
import threading
from collections.abc import Sequence
from typing import Self
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from pipeline import __version__
from pipeline.tracing.spans import Kind, Notes

log = logging.getLogger(__name__)

#: Seconds that sending one batch may take, repetitions included; in a thread of its own, so nobody waits for it.
_SEND_S = 5.0

_KINDS = {"server": SpanKind.SERVER, "consumer": SpanKind.CONSUMER, "internal": SpanKind.INTERNAL}
_HEADER = "traceparent"
_propagator = TraceContextTextMapPropagator()


class OtelSpan:
    """One span of OpenTelemetry, as `pipeline.tracing.spans.Span` wants it."""

    __slots__ = ("_span", "_tracer")

    def __init__(self, tracer: Tracer, span: trace.Span) -> None:
        self._tracer = tracer
        self._span = span

    @property
    def traceparent(self) -> str | None:
        carrier: dict[str, str] = {}
        _propagator.inject(carrier, trace.set_span_in_context(self._span, Context()))
        return carrier.get(_HEADER)  # nothing where OTEL_SDK_DISABLED is set

    def child(self, name: str) -> "OtelSpan":
        around = trace.set_span_in_context(self._span, Context())
        return OtelSpan(self._tracer, self._tracer.start_span(name, around))

    def apart(self, name: str) -> "OtelSpan":
        if not self._span.is_recording():  # whoever asked not to be traced is not traced in parts either
            return self.child(name)
        link = Link(self._span.get_span_context())
        return OtelSpan(self._tracer, self._tracer.start_span(name, Context(), links=[link]))

    def note(self, name: str, value: str | int) -> None:
        self._span.set_attribute(name, value)

    def fail(self, code: str) -> None:
        self._span.set_attribute("error.type", code)
        self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        self._span.end()


class OtelTraces:
    """Writes spans through one processor."""

    def __init__(self, processor: SpanProcessor, process: str) -> None:
        resource = Resource.create(
            {
                "service.name": "fairlane",
                "service.version": __version__,
                "host.name": socket.gethostname(),
                "fairlane.process": process,
            }
        )
        # Not the provider of the whole process: libraries with spans of their own are nothing that was asked for.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("fairlane", __version__)

    @classmethod
    def sending_to(cls, endpoint: str, process: str) -> Self:
        """By OTLP over HTTP, in batches, from a thread of their own."""
        # What it says at each failure is said once, by `ToldOnce`.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        exporter = ToldOnce(OTLPSpanExporter(endpoint, timeout=_SEND_S), _shown(endpoint))
        return cls(_Sending(exporter), process)

    def begin(self, name: str, parent: str | None, kind: Kind, notes: Notes, began_ms: int | None = None) -> OtelSpan:
        span = self._tracer.start_span(
            name, _context_of(parent), _KINDS[kind], notes, start_time=None if began_ms is None else _ns(began_ms)
        )
        return OtelSpan(self._tracer, span)

    def record(self, name: str, parent: str | None, began_ms: int, ended_ms: int, notes: Notes) -> None:
        span = self._tracer.start_span(name, _context_of(parent), attributes=notes, start_time=_ns(began_ms))
        span.end(_ns(max(began_ms, ended_ms)))

    def close(self) -> None:
        self._provider.shutdown()


class _Sending(BatchSpanProcessor):
    """Sends in batches; a stop does not wait for an endpoint that is silent."""

    def __init__(self, exporter: "ToldOnce") -> None:
        super().__init__(exporter)
        self._told_once = exporter

    def shutdown(self) -> None:
        self._told_once.hurry()
        super().shutdown()  # type: ignore[no-untyped-call]


class ToldOnce(SpanExporter):
    """Says once that spans cannot be sent, and once that they can again; nothing it meets is raised.

    Args:
        where: they are sent to, as it may be shown.
    """

    def __init__(self, exporter: SpanExporter, where: str) -> None:
        self._exporter = exporter
        self._where = where
        self._is_silent = False
        self._is_hurried = False
        self._lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._is_hurried and self._is_silent:
            return SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        except Exception as exc:
            log.debug("sending spans failed", exc_info=exc)
            result = SpanExportResult.FAILURE
        self._tell(is_silent=result is not SpanExportResult.SUCCESS)
        return result

    def hurry(self) -> None:
        """From here on the first failure is the last: what is left is given up with it."""
        self._is_hurried = True

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def _tell(self, *, is_silent: bool) -> None:
        with self._lock:
            is_new, self._is_silent = is_silent is not self._is_silent, is_silent
        if is_new and is_silent:
            log.warning("spans cannot be sent and are lost until they can; the work goes on", extra={"to": self._where})
        elif is_new:
            log.info("spans are sent again", extra={"to": self._where})


def _context_of(parent: str | None) -> Context:
    """The context below a traceparent; an empty one, so a new trace, when there is none or it is malformed."""
    return _propagator.extract({_HEADER: parent}, Context()) if parent else Context()


def _ns(epoch_ms: int) -> int:
    return epoch_ms * 1_000_000


def _shown(endpoint: str) -> str:
    """The endpoint without what may be secret in it."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
