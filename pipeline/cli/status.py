"""`fairlane status`: what waits, what runs, who works."""

from pathlib import Path

import click

from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.overview import Sight, is_silent, lanes_table, workers_table
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option, show_rows
from pipeline.clock import SystemClock


@click.command("status")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> None:
    """Show what waits, what runs and who works."""
    sight = Sight(settings_of(data_dir))
    lanes, workers = sight.lanes(), sight.workers()
    if output == "json":
        click.echo(to_json({"lanes": lanes, "workers": workers}, indent=2))
    elif output == "jsonl":
        show_rows([{"kind": "lane", **lane} for lane in lanes], output)
        show_rows([{"kind": "worker", **worker} for worker in workers], output)
    else:
        console = open_console()
        console.print(lanes_table(lanes))
        if is_silent(lanes):
            click.echo("no scheduler has published a watermark of late")
        click.echo()
        console.print(workers_table(workers, SystemClock().now_ms()))
