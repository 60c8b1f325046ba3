"""Traces that a test reads in its own process, as soon as each span ends."""

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pipeline.tracing.otel import OtelTraces


class WrittenTraces(OtelTraces):
    """Keeps what is written."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        super().__init__(SimpleSpanProcessor(self._kept), "test")

    @property
    def spans(self) -> list[ReadableSpan]:
        """In the order of their ends."""
        return list(self._kept.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]


def traceparent_of(span: ReadableSpan) -> str:
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
