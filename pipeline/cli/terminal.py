"""Output: tables for people, JSON for programs."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.cli.sanitize import clean_line, to_json

OutputFormat = Literal["table", "json", "jsonl"]

#: Columns of a table that no terminal bounds.
_PIPE_WIDTH = 160

_C = TypeVar("_C", bound=Callable[..., Any])


def output_option(command: _C) -> _C:
    """Add `-o table|json|jsonl`, passed as `output`."""
    option = click.option(
        "-o", "--output", type=click.Choice(["table", "json", "jsonl"]), default="table", show_default=True
    )
    return option(command)


class PlainConsole(Console):
    """A console that leaves the end of a broken pipe to the caller; rich would exit, from whatever thread prints."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(*, stderr: bool = False) -> Console:
    """Return a console that takes nothing in a text for markup; it honours NO_COLOR."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, has_head: bool = True) -> None:
    """Print a table; numbers stand to the right."""
    open_console().print(table_of(columns, rows, has_head=has_head))


def table_of(columns: Sequence[str], rows: Iterable[Sequence[object]], *, has_head: bool = True) -> Table:
    """A table of texts that nothing from outside can turn into markup or commands; numbers stand to the right."""
    table = Table(show_header=has_head, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    cells = [list(row) for row in rows]
    for index, column in enumerate(columns):
        is_number = bool(cells) and all(isinstance(row[index], int | float) or row[index] == "" for row in cells)
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in cells:
        table.add_row(*(_cell(value) for value in row))
    return table


def show_rows(rows: Sequence[Mapping[str, Any]], output: OutputFormat, *, columns: Sequence[str] = ()) -> None:
    """Print rows in the format asked for.

    Args:
        columns: the keys shown in the table, all by default; JSON always has all.
    """
    if output == "jsonl":
        for row in rows:
            click.echo(to_json(row))
    elif output == "json":
        click.echo(to_json(list(rows), indent=2))
    else:
        names = list(columns) or list(rows[0] if rows else ())
        show_table([name.replace("_", " ") for name in names], [[row.get(name, "") for name in names] for row in rows])


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    return Text("" if value is None else clean_line(str(value)))


def seconds(duration_ms: float | None) -> str:
    """Spell a duration for people: `0.3 s`, `2 min 5 s`; empty when there is none."""
    if duration_ms is None:
        return ""
    whole_s = int(duration_ms / 1000)
    return f"{duration_ms / 1000:.1f} s" if whole_s < 100 else f"{whole_s // 60} min {whole_s % 60} s"
