"""`fairlane audit`: the books of the queue, recounted."""

from pathlib import Path
from typing import Any

import click

from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.terminal import OutputFormat, output_option, show_rows
from pipeline.cli.wiring import inspector_of
from pipeline.queue import LaneBooks

#: Tasks that have not ended which are recounted without being asked for again: a second or two of the server's time.
_MANY = 100_000


@click.command("audit")
@click.option("--yes", is_flag=True, help=f"Recount more than {_MANY:,} tasks too, for which the server stands still.")
@data_dir_option
@output_option
def command(*, yes: bool, data_dir: Path | None, output: OutputFormat) -> int:
    """Recount the queue; exit with 1 if a task is missing or counted twice."""
    inspector = inspector_of(settings_of(data_dir), is_patient=True)
    open_tasks = sum(map(sum, inspector.counts().values()))
    if open_tasks > _MANY and not yes:
        what = f"the server does nothing else while it recounts {open_tasks:,} tasks, 1 to 2 s for each 100,000"
        raise click.UsageError(f"{what}; say --yes to do it")
    books = inspector.audit()
    show_rows([_row(lane) for lane in books], output)
    if output == "table":
        for lane in books:
            for fault in lane.faults:
                click.echo(f"{lane.lane}: {fault}")
    return OK if all(lane.balances for lane in books) else FAILED


def _row(books: LaneBooks) -> dict[str, Any]:
    return {
        "lane": books.lane,
        "accepted": books.accepted,
        "waiting": books.waiting,
        "delayed": books.delayed,
        "leased": books.leased,
        **{str(state): count for state, count in books.ended.items()},
        "faults": len(books.faults),
        "balances": books.balances,
    }
