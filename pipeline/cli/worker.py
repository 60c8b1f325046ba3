"""`fairlane worker list|check`: the live workers, what each can do, and whether those of a host do their work."""

import dataclasses
import socket
from pathlib import Path

import click

from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean, to_json
from pipeline.cli.terminal import OutputFormat, output_option, seconds, show_rows, show_table
from pipeline.cli.wiring import roster_of, standstill_of
from pipeline.clock import SystemClock
from pipeline.queue import LANES, TOO_LONG_MS, WorkerView, is_held, lanes_served, standstill_words

_COLUMNS = (
    "host",
    "process",
    "lanes",
    "state",
    "why",
    "running",
    "can run",
    "threads",
    "engine",
    "CPU %",
    "of others",
    "memory %",
    "GPU memory %",
    "last heard",
)


@click.group("worker")
def command() -> None:
    """Look at the live workers."""


@command.command("list")
@data_dir_option
@output_option
def list_workers(*, data_dir: Path | None, output: OutputFormat) -> None:
    """Show every live worker: what it can do, what it does, and why it claims nothing when it is held.

    `can run` is what really runs at once: images count the slots of the engine, whatever `--threads` says.
    """
    now_ms = SystemClock().now_ms()
    workers = [WorkerView.of(entry, now_ms) for entry in roster_of(settings_of(data_dir)).workers()]
    if output != "table":
        show_rows([dataclasses.asdict(worker) for worker in workers], output)
    elif workers:
        show_table(_COLUMNS, [_row(worker) for worker in workers])
    else:
        click.echo("no worker is alive; `fairlane up` starts them")


@command.command("check")
@data_dir_option
@output_option
@click.option("--host", default=socket.gethostname, show_default="this one", help="name of the host, as workers say it")
def check_workers(*, data_dir: Path | None, output: OutputFormat, host: str) -> int:
    """Say whether the workers of a host are alive and claim what waits; exit 1 when they do not.

    For a container's health check: within a minute it is red. A worker that says why it claims nothing is fine.
    """
    settings = settings_of(data_dir)
    still_ms = standstill_of(settings).look()
    here = [entry for entry in roster_of(settings).workers() if entry.get("hostname") == host]
    faults = [] if here else [f"no live worker on host {clean(host)}"]
    for lane in LANES:
        is_ours = any(lane in lanes_served(entry) and not is_held(entry, lane) for entry in here)
        if is_ours and still_ms[lane] >= TOO_LONG_MS:
            faults.append(standstill_words(lane, still_ms[lane]))
    if output == "table":
        click.echo("\n".join(faults) or f"workers alive: {len(here)}")
    else:
        click.echo(to_json({"host": host, "workers": len(here), "faults": faults}))
    return FAILED if faults else OK


def _row(worker: WorkerView) -> list[object]:
    cells: list[object] = [
        worker.hostname,
        worker.pid,
        worker.queues,
        worker.state,
        "; ".join(worker.holds),
        worker.active_tasks,
        worker.effective_concurrency,
        worker.declared_concurrency,
        worker.engine,
        worker.cpu_percent,
        worker.cpu_others_percent,
        worker.memory_percent,
        worker.gpu_memory_util,
        f"{seconds(worker.heartbeat_age_ms)} ago" if worker.heartbeat_age_ms is not None else "",
    ]
    return ["" if cell is None else cell for cell in cells]
