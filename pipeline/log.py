"""Structured logging: one JSON object a line, the same field names everywhere.

Fields: `time` (RFC 3339, UTC, milliseconds), `level`, `logger`, `message`, then what is bound to the current work
(`request_id`, `task_id`, `mac`, `lane`, `token`) and what the call itself gives as `extra`.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from typing import Any, Literal

_bound: ContextVar[dict[str, Any]] = ContextVar("fairlane_log_fields")

#: What `logging` itself sets on a record; everything else came in as `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}

_UNSAFE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

#: Libraries whose INFO lines say nothing an operator needs.
#: peewee would log every statement at DEBUG, with the texts of devices and the hashes of keys in it.
_QUIET = ("dramatiq", "peewee", "RapidOCR", "PIL")


def bind_fields(**fields: Any) -> Token[dict[str, Any]]:
    """Add `fields` to every line logged from now on in this context (`contextvars`); return what takes them back."""
    return _bound.set({**_bound.get({}), **fields})


@contextmanager
def bound_fields(**fields: Any) -> Iterator[None]:
    """Add `fields` to every line logged inside the block, in this thread."""
    token = bind_fields(**fields)
    try:
        yield
    finally:
        _bound.reset(token)


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    given = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    return {**_bound.get({}), **given}


def _time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonFormatter(logging.Formatter):
    """One record, one line: newlines and control characters inside values are escaped by JSON itself."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields_of(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        # Chinese stays readable; JSON itself escapes the C0 controls, and what else a terminal or an editor would obey
        # (C1, bidi marks, line separators, lone surrogates) is escaped here.
        return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(line, ensure_ascii=False, default=str))


class TextFormatter(logging.Formatter):
    """For people at a terminal: the same fields, shorter."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value!r}" for key, value in _fields_of(record).items())
        line = f"{_time_of(record)[11:23]} {record.levelname[:4].lower()} {record.name}: {record.getMessage()!s}"
        if fields:
            line = f"{line}  {fields}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


def configure_logging(level: str, style: Literal["json", "text"]) -> None:
    """Send every logger of this process to standard error in one style; calling it again replaces it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(root.level, logging.WARNING))
