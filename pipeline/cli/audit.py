"""`fairlane audit`: the books of the queue, recounted."""

from pathlib import Path
from typing import Any

import click

from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.terminal import OutputFormat, output_option, show_rows
from pipeline.cli.wiring import inspector_of
from pipeline.queue import LaneBooks


@click.command("audit")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> int:
    """Recount the queue; exit with 1 if a task is missing or counted twice."""
    books = inspector_of(settings_of(data_dir), is_patient=True).audit()
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
