"""`fairlane key create|list|show|rotate|revoke|audit`: who may use the service, and who changed what."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from models.audit import AuditTrail
from models.base import bind, connect
from models.keys import ROLES, ApiKeys, KeyRow, Role, WantedKey
from models.migrate import insist_on_migrations, migrate
from models.sites import EVERY_SITE, site_fault
from pipeline.cli.deeds import recorded
from pipeline.cli.durations import span_ms, time_of
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.clock import SystemClock
from pipeline.errors import InvalidMac, KeyNotFound
from pipeline.mac import normalize_mac

_NAME_MAX_CHARS = 128


class _Office(NamedTuple):
    """Where keys are kept, and what is done with them is written down."""

    keys: ApiKeys
    trail: AuditTrail


def _check_macs(_ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(normalize_mac(value) for value in values)
    except InvalidMac as exc:
        raise click.BadParameter(exc.problems[0].detail) from exc


def _check_site(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    fault = None if value == EVERY_SITE else site_fault(value)
    if fault:
        raise click.BadParameter(f"{fault}; or {EVERY_SITE} for every site")
    return value


def _check_name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not 1 <= len(value) <= _NAME_MAX_CHARS or not value.isprintable():
        raise click.BadParameter(f"must be 1 to {_NAME_MAX_CHARS} printable characters")
    return value


@click.group("key")
def command() -> None:
    """Make, show, rotate and revoke API keys; show who changed what.

    Once a key was ever made, every request needs one, on loopback too.
    """


@command.command("create")
@click.argument("name", callback=_check_name)
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do; each role is in the how-to.")
@click.option("--site", required=True, callback=_check_site, help="Its owner, made if it is new; * for every site.")
@click.option("--mac", "macs", multiple=True, callback=_check_macs, help="Only for this device; may be repeated.")
@click.option("--expires", "lifetime_ms", callback=span_ms, help="It is good for so long: 90d. Default: until revoked.")
@click.option("--signed", "must_sign", is_flag=True, help="Each of its requests must be signed.")
@data_dir_option
@output_option
def create(
    *,
    name: str,
    role: Role,
    site: str,
    macs: tuple[str, ...],
    lifetime_ms: int | None,
    must_sign: bool,
    data_dir: Path | None,
    output: OutputFormat,
) -> None:
    """Make a key called NAME, and show it: this once, since only its hash is kept."""
    if role == "device" and site == EVERY_SITE:
        raise click.UsageError("a device key belongs to one site")
    office = _office(data_dir)
    wanted = WantedKey(name, site, role, macs, lifetime_ms, must_sign)
    with recorded(office.trail, "key create", json.dumps(dataclasses.asdict(wanted)), site=_one(site)):
        key, text = office.keys.create(wanted)
    _show_new(key, text, output)


@command.command("list")
@click.option("--site", callback=lambda c, p, v: v and _check_site(c, p, v), help="Only those of this site.")
@data_dir_option
@output_option
def list_keys(*, site: str | None, data_dir: Path | None, output: OutputFormat) -> None:
    """List every key that was ever made, the oldest first."""
    rows = [_shown(key) for key in _office(data_dir).keys.all() if site in (None, key.site)]
    if output != "table":
        show_rows(rows, output)
        return
    columns = ("key_id", "name", "site", "role", "devices", "state", "signed", "expires", "last_used")
    show_rows([_for_people(row) for row in rows], output, columns=columns)


@command.command("show")
@click.argument("key_id", metavar="ID")
@data_dir_option
@output_option
def show(*, key_id: str, data_dir: Path | None, output: OutputFormat) -> None:
    """Show what is known of one key."""
    key = _office(data_dir).keys.get(key_id)
    if key is None:
        raise KeyNotFound(f"no key {key_id}")
    _show_one(_shown(key), output)


@command.command("rotate")
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap", "overlap_ms", callback=span_ms, default="1d", show_default=True, help="Both are good for so long."
)
@data_dir_option
@output_option
def rotate(*, key_id: str, overlap_ms: int, data_dir: Path | None, output: OutputFormat) -> None:
    """Make a successor with the same rights and show it; the old key ends after the overlap."""
    office = _office(data_dir)
    old = office.keys.get(key_id)
    with recorded(office.trail, "key rotate", key_id, site=_one(old.site) if old else None):
        key, text = office.keys.rotate(key_id, overlap_ms=overlap_ms)
    _show_new(key, text, output)


@command.command("revoke")
@click.argument("key_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do it without asking back.")
@data_dir_option
@output_option
def revoke(*, key_id: str, yes: bool, data_dir: Path | None, output: OutputFormat) -> None:
    """End a key for good; within a second it opens nothing."""
    office = _office(data_dir)
    old = office.keys.get(key_id)
    if old is None:
        raise KeyNotFound(f"no key {key_id}")
    if not yes:
        raise click.UsageError(f"this ends key {key_id} ({old.name}) for good; say --yes to do it")
    with recorded(office.trail, "key revoke", key_id, site=_one(old.site)):
        key = office.keys.revoke(key_id)
    _show_one(_shown(key), output)


@command.command("audit")
@click.option("--site", callback=lambda c, p, v: v and _check_site(c, p, v), help="Only what was done to this site.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Lines shown, at most.")
@click.option("--before", type=click.IntRange(1, 2**53 - 1), help="Only lines with a smaller id: the next page.")
@data_dir_option
@output_option
def show_audit(
    *, site: str | None, limit: int, before: int | None, data_dir: Path | None, output: OutputFormat
) -> None:
    """Show who changed what, newest first."""
    lines = _office(data_dir).trail.page(site=site, before=before, limit=limit)
    rows = [dataclasses.asdict(line) for line in lines]
    if output == "table":
        rows = [{**row, "at": time_of(row["at_ms"]), "site": row["site"] or EVERY_SITE} for row in rows]
    show_rows(rows, output, columns=("id", "at", "actor", "site", "action", "target", "outcome"))


def _office(data_dir: Path | None) -> _Office:
    settings, clock = settings_of(data_dir), SystemClock()
    database = connect(settings.effective_database_url)
    if not settings.database_url:
        # A service on other addresses than loopback does not start without a key: keys can be made before the first
        # start.
        migrate(database)
    insist_on_migrations(database)
    bind(database)
    return _Office(ApiKeys(database, clock), AuditTrail(database, clock))


def _one(site: str) -> str | None:
    return None if site == EVERY_SITE else site


def _shown(key: KeyRow) -> dict[str, Any]:
    return key.shown(SystemClock().now_ms())


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "devices": ", ".join(row["macs"]) or "all",
        "signed": row["must_sign"],
        "expires": time_of(row["expires_ms"]),
        "last_used": time_of(row["last_used_ms"]),
    }


def _show_one(row: dict[str, Any], output: OutputFormat) -> None:
    if output != "table":
        click.echo(to_json(row, indent=2 if output == "json" else None))
        return
    named = {name: time_of(value) if name.endswith("_ms") else value for name, value in row.items()}
    named["macs"] = ", ".join(row["macs"]) or "all of its site"
    cells = [(name.removesuffix("_ms").replace("_", " "), str(value)) for name, value in named.items() if value]
    show_table(["", ""], cells, has_head=False)


def _show_new(key: KeyRow, text: str, output: OutputFormat) -> None:
    if output != "table":
        click.echo(to_json({"key": text, **_shown(key)}, indent=2 if output == "json" else None))
        return
    click.echo(text)
    whose = ", ".join(key.macs) or ("every device of every site" if key.site == EVERY_SITE else f"site {key.site}")
    click.echo(
        f"{key.role} key {key.key_id} for {whose}; it is shown this once: keep it in a file only you read", err=True
    )
