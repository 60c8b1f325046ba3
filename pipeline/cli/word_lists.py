"""`fairlane words list|show|lint|export`: lists of words and their versions."""

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from models.sites import LOCAL_SITE
from models.word_lists import ListRow, Owner, VersionRow
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean_line, to_json
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.cli.wiring import library_of, roster_of
from pipeline.clock import SystemClock
from pipeline.errors import InvalidMac, QueueUnavailable
from pipeline.lists.library import Library
from pipeline.mac import normalize_mac
from pipeline.queue import WorkerView
from pipeline.settings import Settings

_C = TypeVar("_C", bound=Callable[..., Any])
VERSION = click.IntRange(1, 2**31 - 1)


def _check_mac(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else normalize_mac(value)
    except InvalidMac as exc:
        raise click.BadParameter(exc.problems[0].detail) from exc


def owner_options(command: _C) -> _C:
    """Add `--site` and `--mac`, which say whose list is meant."""
    mac = click.option("--mac", callback=_check_mac, help="The list of this device; default: no device's own.")
    site = click.option("--site", help="The list of this site, or of a device of it; default: the global list.")
    return mac(site(command))


def owner_of(site: str | None, mac: str | None) -> Owner:
    return Owner(site or (LOCAL_SITE if mac else ""), mac or "")


@click.command("list")
@click.option("--site", help="Only lists of this site and its devices.")
@click.option("--mac", callback=_check_mac, help="Only lists of this device.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Lists shown, at most.")
@click.option("--after", type=click.IntRange(0), default=0, help="Only lists with a larger id: the next page.")
@data_dir_option
@output_option
def show_lists(
    *, site: str | None, mac: str | None, limit: int, after: int, data_dir: Path | None, output: OutputFormat
) -> None:
    """Show the lists, which version of each is in effect, and what workers cannot load."""
    settings = settings_of(data_dir)
    library = library_of(settings)
    page = library.shelf.page(site=site, mac=mac, after=after, limit=limit)
    if output != "table":
        show_rows([named(row) for row in page], output)
        return
    columns = ["id", "name", "for", "site", "device", "in effect", "newest", "changed"]
    show_table(columns, [_list_row(row) for row in page])
    if len(page) == limit:
        click.echo(f"there may be more: --after {page[-1].id}")
    _show_faults(settings)


def _show_faults(settings: Settings) -> None:
    try:
        workers = [WorkerView.of(entry, SystemClock().now_ms()) for entry in roster_of(settings).workers()]
    except QueueUnavailable as exc:
        click.echo(f"what workers have loaded is not known: {exc}", err=True)
        return
    for worker in workers:
        for fault in worker.word_faults:
            click.echo(clean_line(f"worker {worker.hostname}:{worker.pid}: {fault}"))


@click.command("show")
@click.argument("name")
@owner_options
@data_dir_option
@output_option
def show(*, name: str, site: str | None, mac: str | None, data_dir: Path | None, output: OutputFormat) -> None:
    """Show the versions of list NAME, newest first."""
    library = library_of(settings_of(data_dir))
    row = library.shelf.find(owner_of(site, mac), name)
    versions = library.shelf.versions(row.id)
    if output != "table":
        show_rows([dataclasses.asdict(version) for version in versions], output)
        return
    columns = ["version", "", "words", "allowed", "combinations", "expressions", "findings", "brought", "from", "hash"]
    show_table(columns, [_version_row(row, version) for version in versions])


@click.command("lint")
@click.argument("name")
@click.option("--version", "number", type=VERSION, help="Default: the newest.")
@owner_options
@data_dir_option
@output_option
def show_lint(
    *, name: str, number: int | None, site: str | None, mac: str | None, data_dir: Path | None, output: OutputFormat
) -> int:
    """Show what the linter found in a version of list NAME; exit code 1 when that keeps it from being published."""
    version = _version(library_of(settings_of(data_dir)), owner_of(site, mac), name, number)
    show_what_was_found(version, output)
    return FAILED if has_errors(version) else OK


@click.command("export")
@click.argument("name")
@click.option("--version", "number", type=VERSION, help="Default: the newest.")
@owner_options
@data_dir_option
def export(*, name: str, number: int | None, site: str | None, mac: str | None, data_dir: Path | None) -> None:
    """Print a version of list NAME as rules in JSON, which `import` takes again."""
    library = library_of(settings_of(data_dir))
    version = _version(library, owner_of(site, mac), name, number)
    click.echo(to_json(json.loads(library.shelf.content(version.sha256)), indent=2))


def _version(library: Library, owner: Owner, name: str, number: int | None) -> VersionRow:
    row = library.shelf.find(owner, name)
    return library.shelf.version(row.id, number or row.latest)


def show_what_was_found(version: VersionRow, output: OutputFormat) -> None:
    """Show the findings of a version; in JSON with all that is known of it."""
    if output != "table":
        click.echo(to_json(dataclasses.asdict(version), indent=2 if output == "json" else None))
    else:
        show_findings(version.findings)


def show_findings(findings: list[dict[str, Any]]) -> None:
    """Show what the linter found, for people."""
    names = ("severity", "place", "word", "detail")
    if findings:
        show_table(names, [[finding[name] for name in names] for finding in findings])
    else:
        click.echo("nothing is wrong with it")


def has_errors(version: VersionRow) -> bool:
    return any(finding["severity"] == "error" for finding in version.findings)


def named(row: ListRow) -> dict[str, Any]:
    """A list as JSON has it."""
    return {"scope": row.owner.scope, **dataclasses.asdict(row.owner), **_without_owner(row)}


def _without_owner(row: ListRow) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(row).items() if name != "owner"}


def _list_row(row: ListRow) -> list[object]:
    owner = row.owner
    in_effect = "" if row.published is None else row.published
    return [row.id, row.name, owner.scope, owner.site, owner.mac, in_effect, row.latest, _time(row.changed_ms)]


def _version_row(row: ListRow, version: VersionRow) -> list[object]:
    counts = version.counts
    return [
        version.version,
        "in effect" if version.version == row.published else "was in effect" if version.published_ms else "draft",
        *(counts.get(name, 0) for name in ("words", "allowed", "combinations", "expressions")),
        len(version.findings),
        _time(version.created_ms),
        version.source,
        version.sha256[:12],
    ]


def _time(epoch_ms: int) -> str:
    return f"{datetime.fromtimestamp(epoch_ms / 1000, UTC):%Y-%m-%d %H:%M:%SZ}"
