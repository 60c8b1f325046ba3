"""Tasks as files: CSV for spreadsheets, JSON lines for programs, made while they are sent."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from models.task_lists import ListedTask
from web.task_lists import ExportedTask, exported_task

#: What a spreadsheet takes for a formula at the beginning of a cell, also after a tab or line end; the full-width forms
#: are folded by some. Source: OWASP, CSV Injection.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_MARK = "\ufeff"

#: What the type of a file is called in a query -> its media type.
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def as_csv(tasks: Iterable[ListedTask], *, has_mark: bool) -> Iterator[bytes]:
    """Lines of CSV (RFC 4180), every cell quoted, none of which a spreadsheet would run.

    Args:
        has_mark: begin with a byte order mark, by which Excel knows UTF-8.
    """
    names = list(ExportedTask.model_fields)
    write = _Row()
    yield ((_MARK if has_mark else "") + write(names)).encode()
    for task in tasks:
        fields = exported_task(task).model_dump()
        yield write([_cell(fields[name]) for name in names]).encode()


def as_json_lines(tasks: Iterable[ListedTask]) -> Iterator[bytes]:
    """One JSON object a line."""
    for task in tasks:
        yield exported_task(task).model_dump_json().encode() + b"\n"


class _Row:
    """Writes one row at a time."""

    def __init__(self) -> None:
        self._buffer = io.StringIO()
        self._write: Callable[[list[str]], Any] = csv.writer(self._buffer, quoting=csv.QUOTE_ALL).writerow

    def __call__(self, cells: list[str]) -> str:
        self._buffer.seek(0)
        self._buffer.truncate()
        self._write(cells)
        return self._buffer.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = "; ".join(value) if isinstance(value, tuple) else str(value)
    return "'" + text if text.startswith(_FORMULA) else text
