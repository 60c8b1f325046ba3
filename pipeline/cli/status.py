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


@click.command("status")
@data_dir_option
@output_option
def command(*, data_dir: Path | None, output: OutputFormat) -> None:
    """Show what waits, what runs and who works."""
    settings = settings_of(data_dir)
    lanes = [dataclasses.asdict(lane) for lane in inspector_of(settings).lanes()]
    workers: list[dict[str, Any]] = list(roster_of(settings).workers())
    if output == "json":
        click.echo(to_json({"lanes": lanes, "workers": workers}, indent=2))
    elif output == "jsonl":
        show_rows([{"kind": "lane", **lane} for lane in lanes], output)
        show_rows([{"kind": "worker", **worker} for worker in workers], output)
    else:
        _show_tables(lanes, workers)


def _show_tables(lanes: list[dict[str, Any]], workers: list[dict[str, Any]]) -> None:
    names = ("lane", "waiting", "delayed", "leased", "devices")
    rows = [[*(lane[name] for name in names), seconds(lane["oldest_wait_ms"])] for lane in lanes]
    show_table([*names, "oldest wait"], rows)
    click.echo()
    if not workers:
        click.echo("no worker is alive; `fairlane up` starts them")
        return
    now_ms = SystemClock().now_ms()
    show_table(
        ["host", "process", "lanes", "state", "running", "can run", "engine", "CPU %", "memory %", "last heard"],
        [_worker_row(worker, now_ms) for worker in workers],
    )


def _worker_row(worker: dict[str, Any], now_ms: int) -> list[object]:
    fields = ("hostname", "pid", "queues", "state", "active_tasks", "effective_concurrency", "engine")
    shares = ("cpu_percent", "memory_percent")
    heard_ms = str(worker.get("last_heartbeat", ""))
    ago = seconds(max(0, now_ms - int(heard_ms))) + " ago" if heard_ms.isdecimal() else ""
    return [*(worker.get(name, "") for name in (*fields, *shares)), ago]
