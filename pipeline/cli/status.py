"""`fairlane status`: what waits, what runs, who works."""

import dataclasses
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, seconds, show_rows, show_table
from pipeline.cli.wiring import inspector_of, roster_of
from pipeline.clock import SystemClock

#: What the last watermark adds to a lane.
_TOLD = (
    "starved_devices",
    "expected_wait_ms",
    "workers",
    "desired_workers",
    "is_downgraded",
    "held_hosts",
)


@click.command("status")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> None:
    """Show what waits, what runs and who works."""
    settings = settings_of(data_dir)
    inspector = inspector_of(settings)
    told = (inspector.watermark() or {}).get("lanes", {})
    lanes = [_joined(dataclasses.asdict(lane), told) for lane in inspector.lanes()]
    workers: list[dict[str, Any]] = list(roster_of(settings).workers())
    if output == "json":
        click.echo(to_json({"lanes": lanes, "workers": workers}, indent=2))
    elif output == "jsonl":
        show_rows([{"kind": "lane", **lane} for lane in lanes], output)
        show_rows([{"kind": "worker", **worker} for worker in workers], output)
    else:
        _show_tables(lanes, workers)


def _joined(lane: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """A lane as it is now, and what the scheduler said of it last; empty where no scheduler has, of late."""
    last = told.get(lane["lane"], {})
    return {**lane, **{name: last.get(name) for name in _TOLD}}


def _show_tables(lanes: list[dict[str, Any]], workers: list[dict[str, Any]]) -> None:
    names = ("lane", "waiting", "delayed", "leased", "devices")
    rows = [[*(lane[name] for name in names), seconds(lane["oldest_wait_ms"]), *_outlook(lane)] for lane in lanes]
    show_table([*names, "oldest wait", "starved", "expected wait", "workers", "wanted", "note"], rows)
    if all(lane["desired_workers"] is None for lane in lanes):
        click.echo("no scheduler has published a watermark of late")
    click.echo()
    if not workers:
        click.echo("no worker is alive; `fairlane up` starts them")
        return
    now_ms = SystemClock().now_ms()
    show_table(
        ["host", "process", "lanes", "state", "running", "can run", "engine", "CPU %", "memory %", "last heard"],
        [_worker_row(worker, now_ms) for worker in workers],
    )


def _outlook(lane: dict[str, Any]) -> list[object]:
    counts = [lane[name] for name in ("starved_devices", "workers", "desired_workers")]
    starved, workers, wanted = ["" if count is None else count for count in counts]
    notes = ["served without a GPU"] if lane["is_downgraded"] else []
    if lane["held_hosts"]:
        notes.append("over a watermark: " + ", ".join(lane["held_hosts"]))
    return [starved, seconds(lane["expected_wait_ms"]), workers, wanted, "; ".join(notes)]


def _worker_row(worker: dict[str, Any], now_ms: int) -> list[object]:
    fields = ("hostname", "pid", "queues", "state", "active_tasks", "effective_concurrency", "engine")
    shares = ("cpu_percent", "memory_percent")
    heard_ms = str(worker.get("last_heartbeat", ""))
    ago = seconds(max(0, now_ms - int(heard_ms))) + " ago" if heard_ms.isdecimal() else ""
    return [*(worker.get(name, "") for name in (*fields, *shares)), ago]
