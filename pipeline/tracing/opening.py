"""Whether this process writes traces; build it after the last fork, since a thread of it sends them."""

import logging
from importlib.util import find_spec

from pipeline.tracing.spans import Traces

log = logging.getLogger(__name__)


def is_extra_installed() -> bool:
    """Whether this host could write traces."""
    try:
        return None not in (find_spec("opentelemetry.sdk"), find_spec("opentelemetry.exporter.otlp.proto.http"))
    except ModuleNotFoundError:
        return False


def open_traces(endpoint: str, process: str) -> Traces | None:
    """The traces of this process; None, and nothing imported, when they are off or the extra `otel` is missing.

    Args:
        endpoint: where they are sent to, by OTLP over HTTP; empty: they are off.
        process: what this one is: web or worker.

    What is wrong with OpenTelemetry or its own settings is logged, and keeps nothing but traces from being written.
    """
    if not endpoint:
        return None
    try:
        from pipeline.tracing.otel import OtelTraces  # only here: whoever has no traces pays nothing
    except ImportError as exc:
        log.warning("no traces are written: the extra `otel` is not installed", extra={"missing": exc.name})
        return None
    try:
        return OtelTraces.sending_to(endpoint, process)
    except (ValueError, RuntimeError, OSError) as exc:  # what it reads from OTEL_* cannot be used
        log.warning("no traces are written: OpenTelemetry cannot start: %s", exc)
        return None
