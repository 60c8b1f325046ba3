"""`fairlane doctor`: every setting, and whether everything fairlane needs is there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click

from pipeline.cli.checks import Check, all_checks, refused_settings
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.errors import ConfigurationError
from pipeline.settings import PREFIX, Settings, rows


@click.command("doctor")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> int:
    """Show all settings; check everything fairlane needs; say how to cure what is wrong, and exit with 1 then."""
    try:
        settings = settings_of(data_dir)
    except ConfigurationError as exc:
        table, checks = [], refused_settings(exc)
    else:
        table, checks = list(_settings_rows(settings)), all_checks(settings)
    if output == "json":
        click.echo(to_json({"settings": table, "checks": [check._asdict() for check in checks]}, indent=2))
    elif output == "jsonl":
        show_rows([{"kind": "setting", **row} for row in table], output)
        show_rows([{"kind": "check", **check._asdict()} for check in checks], output)
    else:
        _show_tables(table, checks)
    return OK if all(check.is_fine for check in checks) else FAILED


def _show_tables(table: list[dict[str, Any]], checks: list[Check]) -> None:
    if table:
        _show_settings(table)
    show_table(["", "check", "found", "cure"], [[c.mark, c.name, c.found, c.cure] for c in checks])
    faults = sum(not check.is_fine for check in checks)
    click.echo(f"\n{faults} of {len(checks)} checks found something wrong" if faults else "\nall is fine")


def _show_settings(table: list[dict[str, Any]]) -> None:
    show_table(
        ["setting", "value", "default", "meaning"],
        [
            [row["name"], ("* " if row["is_set"] else "  ") + row["value"], row["default"], row["meaning"]]
            for row in table
        ],
    )
    click.echo("  * set by the environment, .env or the command line\n")


def _settings_rows(settings: Settings) -> Iterator[dict[str, Any]]:
    for row in rows():
        field = row.name.removeprefix(PREFIX).lower()
        value = getattr(settings, field)
        yield {
            "name": row.name,
            "value": _shown(field, "" if value is None else str(value)),
            "default": row.default,
            "is_set": field in settings.model_fields_set,
            "meaning": row.description,
        }


def _shown(field: str, value: str) -> str:
    return without_password(value) if Settings.model_fields[field].repr or not value else "(hidden)"


def without_password(value: str) -> str:
    """Return a URL with the password in it hidden; anything else as it is."""
    parts = urlsplit(value)
    if not parts.scheme or "@" not in parts.netloc:
        return value
    user, _, _ = parts.netloc.rpartition("@")[0].partition(":")
    return urlunsplit(parts._replace(netloc=f"{user}:***@{parts.netloc.rpartition('@')[2]}"))
