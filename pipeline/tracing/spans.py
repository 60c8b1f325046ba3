"""The current span of a thread, and what is asked of it; without one nothing is done, made or kept."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, Protocol

from pipeline.errors import FairlaneError

Notes = Mapping[str, str | int]
#: Who asks whom: `server` answers a request, `consumer` does what was put in line, `internal` is a part of either.
Kind = Literal["server", "consumer", "internal"]

#: Where the id of the trace ends in a traceparent: version, 32 digits, and the dashes. Source: W3C Trace Context, 3.2.
_TRACE_ENDS = 36


class Span(Protocol):
    """A span that has begun."""

    @property
    def traceparent(self) -> str | None:
        """What those who go on with the trace elsewhere must know, as W3C Trace Context spells it, if it is one."""

    def child(self, name: str) -> "Span":
        """Begin a part of it."""

    def apart(self, name: str) -> "Span":
        """Begin a trace of its own, linked with this span."""

    def note(self, name: str, value: str | int) -> None: ...

    def fail(self, code: str) -> None:
        """Say that it failed, and by which code; never in words, which might be those of a device."""

    def end(self) -> None: ...


class Traces(Protocol):
    """The traces that a process writes."""

    def begin(self, name: str, parent: str | None, kind: Kind, notes: Notes, began_ms: int | None = None) -> Span:
        """Begin a span below a traceparent, or a new trace where that is None or not one.

        Args:
            began_ms: when it has begun, epoch ms, if not now.
        """

    def record(self, name: str, parent: str | None, began_ms: int, ended_ms: int, notes: Notes) -> None:
        """Write a span of something that is over."""

    def close(self) -> None:
        """Send what is left, for a few seconds at most; later spans go nowhere."""


_current: ContextVar[Span | None] = ContextVar("fairlane_span", default=None)
_NOTHING: AbstractContextManager[None] = nullcontext()


class Scope:
    """Makes a span that has begun the current one of this thread until it is closed, which ends the span."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span) -> None:
        self._span = span
        self._token = _current.set(span)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(error)

    def close(self, error: BaseException | None = None) -> None:
        """End the span, with the code of the error that ended it, if one did."""
        _current.reset(self._token)
        if error is not None:
            self._span.fail(error.code if isinstance(error, FairlaneError) else type(error).__name__)
        self._span.end()


def step(name: str) -> AbstractContextManager[None]:
    """A block that is a span below the current one; without one it is just a block."""
    span = _current.get()
    return _NOTHING if span is None else Scope(span.child(name))


def apart(name: str) -> AbstractContextManager[None]:
    """A block that is a trace of its own, linked with the current span; without one it is just a block."""
    span = _current.get()
    return _NOTHING if span is None else Scope(span.apart(name))


def note(name: str, value: str | int) -> None:
    """Let the current span say this, too: ids, numbers and codes, never words or texts."""
    span = _current.get()
    if span is not None:
        span.note(name, value)


def fail(code: str) -> None:
    """Let the current span say that it failed, though nothing was raised."""
    span = _current.get()
    if span is not None:
        span.fail(code)


def traceparent() -> str | None:
    """Of the current span; None without one."""
    span = _current.get()
    return None if span is None else span.traceparent


def continued(known: str | None) -> str | None:
    """The current span's traceparent where it belongs to the trace of `known`; else `known`, whose trace goes on.

    Whoever works for one task may end another one, whose announcement is none of this trace.
    """
    here = traceparent() if known else None
    return here if here and known and here[:_TRACE_ENDS] == known[:_TRACE_ENDS] else known
