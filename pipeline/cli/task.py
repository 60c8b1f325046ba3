"""`fairlane task show`: one task, all that is known of it."""

import dataclasses
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from models.base import connection
from pipeline.cli.marks import marked
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean_line, to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option, seconds, show_table
from pipeline.cli.wiring import ledger_of
from pipeline.errors import TaskNotFound


@click.group("task")
def command() -> None:
    """Look at one task."""


@command.command("show")
@click.argument("task_id")
@data_dir_option
@output_option
def show(*, task_id: str, data_dir: Path | None, output: OutputFormat) -> None:
    """Show the state, steps, text and hits of a task."""
    ledger = ledger_of(settings_of(data_dir))
    with connection():
        view = ledger.view(task_id)
    if view is None:
        raise TaskNotFound(f"no task {task_id} in the database")
    task = dataclasses.asdict(view)
    if output == "table":
        _show_table(task)
    else:
        click.echo(to_json(task, indent=2 if output == "json" else None))


def _show_table(view: dict[str, Any]) -> None:
    task = view["task"]
    names = ("task_id", "lane", "mac", "state", "attempts", "code", "reason")
    rows = [[name.replace("_", " "), task[name]] for name in names if task[name] not in ("", None)]
    rows.append(["waited", seconds(_difference_ms(task["created_ms"], task["started_ms"]))])
    rows.append(["ran", seconds(_difference_ms(task["started_ms"], task["ended_ms"]))])
    show_table(["", ""], [[name, str(value)] for name, value in rows], has_head=False)
    click.echo()
    show_table(
        ["step", "state", "took", "reason"],
        [
            [step["name"], step["state"], seconds(_difference_ms(step["started_ms"], step["ended_ms"])), step["reason"]]
            for step in view["steps"]
        ],
    )
    _show_result(view)


def _show_result(view: dict[str, Any]) -> None:
    console = open_console()
    ocr, detection = view["ocr"], view["detection"]
    if ocr:
        console.print(f"\nread by {ocr['engine']} ({ocr['model']}), mean confidence {ocr['mean_confidence']:.2f}:")
    if detection:
        hits = detection["hits"]
        console.print(marked(detection["text"], [(hit["start"], hit["end"]) for hit in hits]))
        words = ", ".join(f"{hit['word']} ({hit['list']})" for hit in hits) or "none"
        console.print()
        console.print(Text(clean_line(f"hits: {words}; suggestion: {detection['suggestion']}")))


def _difference_ms(begin_ms: int | None, end_ms: int | None) -> int | None:
    return end_ms - begin_ms if begin_ms and end_ms else None
