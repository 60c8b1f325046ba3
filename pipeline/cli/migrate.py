"""`fairlane migrate`: the layout of the database."""

from pathlib import Path

import click

from models.base import connect
from models.migrate import migrate, pending
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.progress import bar_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option


@click.command("migrate")
@data_dir_option
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if something is to be done.")
@output_option
def command(*, data_dir: Path | None, check: bool, output: OutputFormat) -> int:
    """Bring the database to the layout of this version; `up` and `demo` do it by themselves."""
    database = connect(settings_of(data_dir).effective_database_url)
    if check:
        steps = pending(database)
        _report("to be done", steps, output)
        return FAILED if steps else OK
    with bar_of("migrating", len(pending(database))) as advance:
        steps = migrate(database, lambda _: advance(1))
    _report("done", steps, output)
    return OK


def _report(what: str, steps: list[str], output: OutputFormat) -> None:
    if output == "table":
        click.echo(f"{what}: {', '.join(steps)}" if steps else "the database is up to date")
    else:
        click.echo(to_json({what.replace(" ", "_"): steps}))
