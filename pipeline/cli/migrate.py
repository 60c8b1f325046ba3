"""`fairlane migrate`: the layout of the database."""

from pathlib import Path

import click

from models.base import connect
from models.migrate import migrate, pending
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of


@click.command("migrate")
@data_dir_option
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if something is to be done.")
def command(*, data_dir: Path | None, check: bool) -> int:
    """Bring the database to the layout of this version; `up` and `demo` do it by themselves."""
    database = connect(settings_of(data_dir).effective_database_url)
    if check:
        steps = pending(database)
        click.echo("to be done: " + ", ".join(steps) if steps else "the database is up to date")
        return FAILED if steps else OK
    steps = migrate(database)
    click.echo("done: " + ", ".join(steps) if steps else "the database is up to date")
    return OK
