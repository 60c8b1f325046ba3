"""`fairlane worker list`: the live workers, what each can do, and why one claims nothing."""

import dataclasses
from pathlib import Path

import click

from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.terminal import OutputFormat, output_option, seconds, show_rows, show_table
from pipeline.cli.wiring import roster_of
from pipeline.clock import SystemClock
from pipeline.queue import WorkerView

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
