"""`fairlane recover`: the queue, filled again from the database."""

import dataclasses
from pathlib import Path

import click

from models.base import bound, connection
from models.devices import Devices
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.progress import count_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option
from pipeline.cli.wiring import inspector_of, ledger_of, queue_of
from pipeline.devices import restore_rules
from pipeline.recovery import recover


@click.command("recover")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> None:
    """Put every unfinished task of the database back in line, and back in force what is set for devices.

    For a Redis that was emptied or restored from an old copy; the scheduler does it by itself, a little later. Doing it
    twice, or while everything runs, does no harm.
    """
    settings = settings_of(data_dir)
    ledger = ledger_of(settings)
    with connection(), count_of("unfinished tasks looked at:") as tell:
        queue = queue_of(settings)
        restore_rules(queue, Devices(bound()))
        counts = dataclasses.asdict(recover(queue, inspector_of(settings), ledger, tell=tell))
    if output == "table":
        click.echo(
            f"looked at {counts['looked_at']} unfinished tasks: {counts['enqueued']} put back in line, "
            f"{counts['closed']} closed that had ended"
        )
    else:
        click.echo(to_json(counts))
