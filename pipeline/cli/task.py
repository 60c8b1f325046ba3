"""`fairlane task show|list|cancel`: one task in full, many in short, and how to take one back."""

import dataclasses
import hashlib
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from models.audit import AuditTrail
from models.base import bound, connection
from models.task_lists import ListedTask, Wanted
from models.tasks import END_STATES, OPEN_STATES
from pipeline.cli.deeds import recorded
from pipeline.cli.durations import span_ms, time_of
from pipeline.cli.marks import marked
from pipeline.cli.options import check_mac, data_dir_option, settings_of
from pipeline.cli.progress import count_of
from pipeline.cli.sanitize import clean_line, to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option, seconds, show_rows, show_table
from pipeline.cli.wiring import ledger_of, queue_of, task_lists_of
from pipeline.clock import SystemClock
from pipeline.errors import TaskNotFound
from pipeline.queue import TASK_LANES
from pipeline.receivers import shown_url
from pipeline.recovery import cancel

_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
#: Tasks with their texts that a listing holds at a time.
_PAGE = 200


def _ago(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    age_ms = span_ms(ctx, param, value)
    return None if age_ms is None else SystemClock().now_ms() - age_ms


def _digest(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> str | None:
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


@click.group("task")
def command() -> None:
    """Show, list and cancel tasks."""


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
    task["task"]["callback_url"] = shown_url(view.task.callback_url or "") or None
    if output == "table":
        _show_table(task)
    else:
        click.echo(to_json(task, indent=2 if output == "json" else None))


@command.command("list")
@click.option("--mac", callback=check_mac, help="Only of this device.")
@click.option("--state", type=click.Choice((*OPEN_STATES, *END_STATES)), help="Only in this state.")
@click.option("--lane", type=click.Choice(TASK_LANES), help="Only of this lane.")
@click.option("--hit/--no-hit", "has_hit", default=None, help="Only with sensitive words, or only without.")
@click.option("--text", help="Only where the text that was read or screened holds this.")
@click.option("--detection-id", help="Only with this id, which the client gave its own finding.")
@click.option(
    "--image", "image_sha256", metavar="FILE", callback=_digest, type=_FILE, help="Only with this very image."
)
@click.option("--older-than", "until_ms", metavar="AGE", callback=_ago, help="Accepted more than 2h ago.")
@click.option("--newer-than", "from_ms", metavar="AGE", callback=_ago, help="Accepted 15m ago at most.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Tasks, at most.")
@data_dir_option
@output_option
def show_list(*, data_dir: Path | None, output: OutputFormat, limit: int, **filters: Any) -> None:
    """List tasks, newest first; jsonl prints each as soon as it is found."""
    tasks = task_lists_of(settings_of(data_dir)).every(Wanted(**filters), page=_PAGE, limit=limit)
    if output == "jsonl":
        _pour(tasks)
        return
    rows = [dataclasses.asdict(task) for task in tasks]
    if output == "table":
        for row in rows:
            row.update(words=", ".join(row["words"]), accepted=time_of(row["created_ms"]))
    columns = ("task_id", "mac", "lane", "state", "accepted", "suggestion", "words", "code")
    show_rows(rows, output, columns=columns)


@command.command("cancel")
@click.argument("task_ids", nargs=-1, required=True, metavar="TASK_ID...")
@data_dir_option
@output_option
def cancel_tasks(*, task_ids: tuple[str, ...], data_dir: Path | None, output: OutputFormat) -> None:
    """Cancel tasks that have not ended; all of them must exist."""
    settings = settings_of(data_dir)
    ledger, queue = ledger_of(settings), queue_of(settings)
    with connection():
        for task_id in task_ids:
            if ledger.get(task_id) is None:
                raise TaskNotFound(f"no task {task_id} in the database")
        with recorded(AuditTrail(bound(), SystemClock()), "task cancel", " ".join(task_ids)):
            cancelled = [task_id for task_id in task_ids if cancel(queue, ledger, task_id, "cancelled by an operator")]
    if output == "table":
        click.echo(f"cancelled {len(cancelled)} of {len(task_ids)}; the others had ended")
    else:
        show_rows([{"task_id": one, "cancelled": one in cancelled} for one in task_ids], output)


def _pour(tasks: Iterable[ListedTask]) -> None:
    """Print each as soon as it is found; how many is shown where the tasks themselves do not scroll by."""
    with count_of("tasks:") if not sys.stdout.isatty() else nullcontext(lambda _: None) as tell:
        for number, task in enumerate(tasks, start=1):
            click.echo(to_json(dataclasses.asdict(task)))
            tell(number)


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
