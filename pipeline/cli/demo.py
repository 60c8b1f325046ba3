"""`fairlane demo`: everything on this machine, one device that floods and two that do not, and what came out."""

import os
import socket
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pipeline.cli.api import Api
from pipeline.cli.demo_report import show_reading, show_waits
from pipeline.cli.demo_scene import WAIT_S, Device, Scene, make_devices
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.interrupts import Interrupts, handled_signals
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.service import api_of
from pipeline.cli.terminal import open_console
from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images, sample_texts, words_file
from pipeline.settings import Settings

#: Images read at once, at most: more would only show a larger machine.
_SLOTS_MAX = 2

#: After this nothing of the demo can still be all right; seconds.
_LIMIT_S = 300


@click.command("demo")
@data_dir_option
@click.option("--keep", is_flag=True, help="Leave everything running afterwards, until Ctrl-C.")
def command(*, data_dir: Path | None, keep: bool) -> int:
    """Start everything on this machine, send sample pictures and texts, show what came out.

    Nothing outside the data folder is used or touched: Redis, database and storage are embedded, whatever the settings
    say. One device floods the service; two others come later and must not have to wait behind it.
    """
    settings = _demo_settings(data_dir)
    console = open_console()
    with handled_signals() as interrupts:
        stack = Stack(settings, SystemClock(), interrupts.stop)
        interrupts.kill = stack.kill
        console.print("starting web, scheduler, two workers and an embedded Valkey ...")
        with stack:
            is_fine = _play(api_of(settings), interrupts, console)
            _say_where(stack, settings, console)
            if keep:
                console.print("\nstill running; Ctrl-C ends it")
                interrupts.stop.wait()
            console.print("stopping ...")
    return OK if is_fine else FAILED


def _demo_settings(data_dir: Path | None) -> Settings:
    return settings_of(
        data_dir,
        redis_url="",
        database_url="",
        storage_url="",
        web_bind=f"127.0.0.1:{_free_port()}",
        ocr_slots=max(1, min(_SLOTS_MAX, os.cpu_count() or 1)),
        words_file=words_file(),
        # The same few pictures come again and again, and each is to be read.
        ocr_reuse_seconds=0,
        long_poll_max_seconds=WAIT_S,
        # It shall run on whatever machine it is tried on, however busy or full that is.
        worker_cpu_high_watermark=100,
        worker_mem_high_watermark=100,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _play(api: Api, interrupts: Interrupts, console: Console) -> bool:
    """Send everything, wait for everything, show it; return whether nothing was lost and nothing failed."""
    devices = make_devices(sample_images(), sample_texts())
    scene = Scene(api, devices, interrupts.stop)
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    clock = SystemClock()
    begin_ms = clock.monotonic_ms()
    with Progress(*columns, console=console) as progress:
        bars = {device.name: progress.add_task(device.name, total=device.total) for device in devices}
        scene.begin()
        while not scene.is_over and clock.monotonic_ms() - begin_ms < _LIMIT_S * 1000:
            interrupts.raise_if_stopped(wait_s=0.1)
            _advance(progress, bars, devices)
        _advance(progress, bars, devices)
    show_waits(devices, console)
    show_reading(devices, console)
    for problem in scene.problems:
        console.print(f"problem: {problem}")
    return not scene.problems and all(device.done == device.total for device in devices)


def _advance(progress: Progress, bars: dict[str, TaskID], devices: list[Device]) -> None:
    for device in devices:
        progress.update(bars[device.name], completed=device.ended)


def _say_where(stack: Stack, settings: Settings, console: Console) -> None:
    console.print(f"\nweb     {stack.base_url}  (description: {stack.base_url}/openapi.json)", soft_wrap=True)
    console.print(f"data    {settings.data_dir.resolve()}", soft_wrap=True)
    console.print(f"logs    {stack.log_folder.resolve()}", soft_wrap=True)
