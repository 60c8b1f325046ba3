"""Traces of OpenTelemetry: one from the request over the wait and the work to the announcement.

`otel.py` alone touches OpenTelemetry, and is imported only where traces are switched on. Everything else asks for the
current span of its thread, of which there is none while they are off.
"""

from pipeline.tracing.carrying import NOTHING_CARRIED, Carried, carried_in, payload_of
from pipeline.tracing.opening import is_extra_installed, open_traces
from pipeline.tracing.spans import Kind, Notes, Scope, Span, Traces, apart, continued, fail, note, step, traceparent

__all__ = [
    "NOTHING_CARRIED",
    "Carried",
    "Kind",
    "Notes",
    "Scope",
    "Span",
    "Traces",
    "apart",
    "carried_in",
    "continued",
    "fail",
    "is_extra_installed",
    "note",
    "open_traces",
    "payload_of",
    "step",
    "traceparent",
]
