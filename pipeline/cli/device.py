"""`fairlane device list|show|set|pause|resume`: who waits, and how each is served."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from models.audit import AuditTrail
from models.base import bound
from models.devices import SetRules
from models.scope import EVERYTHING, Scope
from models.sites import site_fault
from pipeline.cli.deeds import recorded
from pipeline.cli.durations import time_of
from pipeline.cli.options import check_mac, data_dir_option, settings_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, seconds, show_rows, show_table
from pipeline.cli.wiring import devices_of
from pipeline.clock import SystemClock
from pipeline.devices import DeviceBook, DeviceView, Place, Show, Sort, WantedDevices
from pipeline.mac import prefix_of_mac, spell_mac
from pipeline.queue import LANES, Lane
from pipeline.queue.limits import COUNT_MAX, WEIGHT_MAX, WEIGHT_MIN

_C = TypeVar("_C", bound=Callable[..., Any])
_PAGE = 100
#: A rate smaller than one task in two years is a mistake.
_RATE_MIN = 1e-6


class _Usual(Enum):
    """Said in place of a number."""

    USUAL = "usual"


class _NumberOrUsual(click.ParamType[Any]):
    """A number in its range, or `usual`."""

    def __init__(self, number: click.ParamType[Any]) -> None:
        self._number = number
        self.name = f"{number.name}|usual"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("usual", _Usual.USUAL):
            return _Usual.USUAL
        number = self._number.convert(value, param, ctx)
        if number != number:
            self.fail("is not a number", param, ctx)
        return number


def _check_site(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    fault = None if value is None else site_fault(value)
    if fault:
        raise click.BadParameter(fault)
    return value


def _check_prefix(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    prefix = "" if value is None else prefix_of_mac(value)
    if prefix is None:
        raise click.BadParameter("must be the beginning of a MAC address: 1 to 12 hexadecimal digits")
    return prefix


_site_option = click.option("--site", callback=_check_site, help="Whose, when several sites have this MAC.")


def _one_device(command: _C) -> _C:
    """Add the MAC, `--site`, and what most commands have."""
    command = output_option(data_dir_option(_site_option(command)))
    return click.argument("mac", callback=check_mac)(command)


@click.group("device")
def command() -> None:
    """List, show, limit, weigh, pause and resume devices."""


@command.command("list")
@click.option("--show", type=click.Choice(get_args(Show)), default="waiting", show_default=True, help="Which.")
@click.option("--lane", type=click.Choice(LANES), help="Look at this lane only.")
@click.option("--mac", "prefix", callback=_check_prefix, help="Whose MAC begins so; in the order of the MACs.")
@click.option("--sort", type=click.Choice(get_args(Sort)), default="oldest", show_default=True, help="Largest first.")
@click.option("--site", callback=_check_site, help="Only of this site.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Devices, at most.")
@data_dir_option
@output_option
def show_list(
    *, data_dir: Path | None, output: OutputFormat, site: str | None, limit: int, sort: Sort, **filters: Any
) -> None:
    """List devices: those with tasks waiting, unless --show says otherwise."""
    wanted = WantedDevices(within=Scope(site) if site else EVERYTHING, sort=sort, **filters)
    if sort != "oldest" and not wanted.is_by_wait:
        raise click.UsageError("--sort is for those that wait, and without --mac")
    devices = devices_of(settings_of(data_dir))
    rows = [device.told() for device in _every(devices, wanted, limit)]
    if output != "table":
        show_rows(rows, output)
        return
    columns = ["device", "site", "waiting", "in flight", "oldest wait", "share / due", "starved", "kept out by"]
    show_table(columns, [_table_row(row, wanted) for row in rows])


@command.command("show")
@_one_device
def show(*, mac: str, site: str | None, data_dir: Path | None, output: OutputFormat) -> None:
    """Show one device: what is set for it, and each of its lines."""
    _print(devices_of(settings_of(data_dir)).find(mac, EVERYTHING, site), output)


@command.command("set")
@click.option(
    "--weight", type=_NumberOrUsual(click.FloatRange(WEIGHT_MIN, WEIGHT_MAX)), help="Share against others of its site."
)
@click.option(
    "--max-inflight", type=_NumberOrUsual(click.IntRange(1, COUNT_MAX)), help="Tasks of one lane in flight, at most."
)
@click.option(
    "--rate-per-minute",
    type=_NumberOrUsual(click.FloatRange(_RATE_MIN, COUNT_MAX)),
    help="Tasks of one lane begun a minute, at most.",
)
@_one_device
def set_rules(*, mac: str, site: str | None, data_dir: Path | None, output: OutputFormat, **wanted: Any) -> None:
    """Set how a device is served, at once and for what waits already; `usual` takes a number back."""
    changes = {name: value for name, value in wanted.items() if value is not None}
    if not changes:
        raise click.UsageError("say what: --weight, --max-inflight or --rate-per-minute")
    usual = {name: getattr(SetRules(), name) for name, value in changes.items() if value is _Usual.USUAL}
    _change(mac, site, data_dir, output, "set", lambda rules: replace(rules, **{**changes, **usual}))


@command.command("pause")
@click.option("--lane", type=click.Choice(LANES), help="This lane alone; all if not given.")
@_one_device
def pause(*, mac: str, site: str | None, lane: Lane | None, data_dir: Path | None, output: OutputFormat) -> None:
    """Let a device's tasks wait; what runs goes on."""
    _change(mac, site, data_dir, output, "pause", lambda rules: _paused(rules, lane, is_paused=True))


@command.command("resume")
@click.option("--lane", type=click.Choice(LANES), help="This lane alone; the whole device if not given.")
@_one_device
def resume(*, mac: str, site: str | None, lane: Lane | None, data_dir: Path | None, output: OutputFormat) -> None:
    """Serve a device again; without --lane, lanes that were paused alone stay so."""
    _change(mac, site, data_dir, output, "resume", lambda rules: _paused(rules, lane, is_paused=False))


def _paused(rules: SetRules, lane: Lane | None, *, is_paused: bool) -> SetRules:
    if lane is None:
        return replace(rules, is_paused=is_paused)
    others = rules.paused_lanes - {lane}
    return replace(rules, paused_lanes=others | {lane} if is_paused else others)


def _change(
    mac: str,
    site: str | None,
    data_dir: Path | None,
    output: OutputFormat,
    deed: str,
    merge: Callable[[SetRules], SetRules],
) -> None:
    devices = devices_of(settings_of(data_dir))
    device = devices.find(mac, EVERYTHING, site)
    after = merge(device.row.rules)
    said = {name: getattr(after, name) for name in SetRules.__dataclass_fields__}
    target = to_json({"mac": mac, **said, "paused_lanes": sorted(after.paused_lanes)})
    with recorded(AuditTrail(bound(), SystemClock()), f"device {deed}", target, site=device.row.site):
        device = devices.change(device, merge)
    _print(device, output)


def _every(devices: DeviceBook, wanted: WantedDevices, limit: int) -> Iterator[DeviceView]:
    after: Place | None = None
    while limit > 0:
        page = devices.page(wanted, after=after, limit=min(limit, _PAGE))
        yield from page.devices
        limit -= len(page.devices)
        after = page.after
        if after is None:
            return


def _print(device: DeviceView, output: OutputFormat) -> None:
    told = device.told()
    if output != "table":
        click.echo(to_json(told, indent=2 if output == "json" else None))
        return
    usual = {"max_inflight": "no limit", "rate_per_minute": "no limit"}
    rows = [("device", spell_mac(told["mac"])), ("site", told["site"])]
    rows += [(name, time_of(told[f"{name.replace(' ', '_')}_ms"])) for name in ("first seen", "last seen")]
    rows += [(name.replace("_", " "), str(told[name] or usual.get(name))) for name in ("weight", *usual)]
    rows.append(("paused", "yes" if told["paused"] else "no"))
    show_table(["", ""], rows, has_head=False)
    click.echo()
    columns = ["lane", "waiting", "in flight", "oldest wait", "score", "share / due", "starved", "kept out by", "until"]
    show_table(columns, [_lane_row(name, lane) for name, lane in told["lanes"].items()])


def _table_row(told: dict[str, Any], wanted: WantedDevices) -> list[object]:
    lanes = [told["lanes"][lane] for lane in wanted.lanes]
    largest = max(lanes, key=lambda lane: lane["share"] or 0.0)
    gates = dict.fromkeys(lane["gate"] for lane in lanes if lane["gate"])
    oldest_ms = max((lane["oldest_wait_ms"] for lane in lanes if lane["oldest_wait_ms"] is not None), default=None)
    return [
        *(spell_mac(told["mac"]), told["site"]),
        *(sum(lane[name] for lane in lanes) for name in ("waiting", "in_flight")),
        *(seconds(oldest_ms), _shares(largest), any(lane["starved"] for lane in lanes), ", ".join(gates)),
    ]


def _lane_row(name: str, lane: dict[str, Any]) -> list[object]:
    until = time_of(lane["gate_opens_ms"])
    wait = seconds(lane["oldest_wait_ms"])
    return [
        *(name, lane["waiting"], lane["in_flight"], wait, lane["score"], _shares(lane)),
        *(lane["starved"], lane["gate"] or "", until),
    ]


def _shares(lane: dict[str, Any]) -> str:
    if lane["share"] is None and lane["due_share"] is None:
        return ""
    return " / ".join("-" if share is None else f"{share:.1%}" for share in (lane["share"], lane["due_share"]))
