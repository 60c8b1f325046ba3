"""`fairlane watch`, also `top`: what waits, who works, and which devices wait longest, refreshed in place."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import click
from rich.console import Group
from rich.live import Live
from rich.text import Text

from pipeline.cli.exits import OK, message_of
from pipeline.cli.keyboard import open_keyboard
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.overview import Sight, devices_table, is_silent, lanes_table, workers_table
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option
from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable

_DEVICES = 10
_QUIT_KEYS = ("q", "Q", "\x04")  # the last is Ctrl-D


@click.command("watch")
@click.option(
    "--interval",
    type=click.FloatRange(0.2, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--count", type=click.IntRange(1), help="End after so many looks. Default: on q or Ctrl-C.")
@data_dir_option
@output_option
def command(*, interval: float, count: int | None, data_dir: Path | None, output: OutputFormat) -> int:
    """Watch lanes, workers and the devices that wait longest; `top` is the same.

    On a terminal the picture is refreshed in place until q or Ctrl-C; elsewhere, and with -o, each look is printed
    below the last one.
    """
    views = _Views(Sight(settings_of(data_dir)))
    looks = range(count) if count else iter(int, 1)
    with _ended_by_signals():
        views.look()  # where nothing answers, there is nothing to watch
        if output == "table" and sys.stdout.isatty():
            _refresh(views, looks, interval)
        else:
            _repeat(views, looks, interval, output)
    return OK


class _Views:
    """The newest look, kept when the next one fails: a server that restarts must not end the watch."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self.last: dict[str, Any] = {}
        self.fault = ""

    def look(self) -> None:
        """Raises: QueueUnavailable; the look before stays."""
        self.last = {
            "time_ms": self._sight.now_ms(),
            "lanes": self._sight.lanes(),
            "devices": self._sight.devices(_DEVICES),
            "workers": self._sight.workers(),
        }

    def try_to_look(self) -> None:
        self.fault = ""
        try:
            self.look()
        except QueueUnavailable as exc:
            self.fault = message_of(exc)

    def picture(self, hint: str = "") -> Group:
        told = self.last
        time = datetime.fromtimestamp(told["time_ms"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        notes = [Text(f"{time}{hint}", style="bold")]
        if self.fault:
            notes.append(Text(f"no newer one: {self.fault}", style="red"))
        if is_silent(told["lanes"]):
            notes.append(Text("no scheduler has published a watermark of late"))
        parts = (lanes_table(told["lanes"]), devices_table(told["devices"]))
        return Group(*notes, *parts, workers_table(told["workers"], SystemClock().now_ms()))


def _refresh(views: _Views, looks: Any, interval_s: float) -> None:
    hint = "  q quits"
    with open_keyboard() as keyboard, Live(console=open_console(), screen=True, auto_refresh=False) as live:
        for number, _ in enumerate(looks):
            if number:
                views.try_to_look()
            live.update(views.picture(hint), refresh=True)
            if keyboard.wait(interval_s) in _QUIT_KEYS:
                return


def _repeat(views: _Views, looks: Any, interval_s: float, output: OutputFormat) -> None:
    console = open_console()
    for number, _ in enumerate(looks):
        if number:
            Event().wait(interval_s)
            views.try_to_look()
        if output == "table":
            console.print(views.picture(), Text())
        elif views.fault:
            click.echo(views.fault, err=True)
        else:
            click.echo(to_json(views.last, indent=2 if output == "json" else None))
        sys.stdout.flush()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the block and leave the terminal as it was."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
