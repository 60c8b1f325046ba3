"""`fairlane up`: all processes on this machine, their output here, until Ctrl-C."""

import json
import threading
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from pipeline.cli.interrupts import handled_signals
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean_line
from pipeline.cli.terminal import open_console
from pipeline.clock import SystemClock
from pipeline.runner.logs import LogFollower
from pipeline.runner.stack import Stack
from pipeline.runner.supervisor import Event

#: Colours of the names, in the order of the processes.
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")

#: Width of the names.
_NAME_CHARS = 10


@click.command("up")
@data_dir_option
@click.option("-q", "--quiet", is_flag=True, help="Show starts and ends only; the output is in the log files anyway.")
def command(*, data_dir: Path | None, quiet: bool) -> None:
    """Run all processes on this machine until Ctrl-C.

    A process that dies is started again, alone. Ctrl-C stops taking new work, finishes what runs, then ends; a second
    one kills at once. Redis, database and storage are embedded in the data folder unless settings name others.
    """
    settings = settings_of(data_dir)
    with handled_signals() as interrupts:
        voices = Voices(open_console(), interrupts.stop)
        stack = Stack(settings, SystemClock(), interrupts.stop, voices.tell)
        interrupts.kill = stack.kill
        follower = LogFollower({} if quiet else stack.logs, voices.pass_on)
        follower.start()
        try:
            with stack:
                if stack.is_open:
                    voices.say("no API keys: every user of this machine may do everything; other machines are refused")
                voices.say(f"ready: {stack.base_url}  data: {settings.data_dir}  logs: {stack.log_folder}")
                interrupts.stop.wait()
        finally:
            follower.stop()
        voices.say("stopped")


class Voices:
    """Lines of many processes on one terminal, each with the name of its process before it.

    Args:
        stop: set when nobody reads us any more.
    """

    def __init__(self, console: Console, stop: threading.Event) -> None:
        self._console = console
        self._stop = stop
        self._colours: dict[str, str] = {}

    def say(self, message: str) -> None:
        self._print("fairlane", Text(message, style="bold"))

    def tell(self, event: Event) -> None:
        self.say(f"{event.name} {event.kind}: {event.detail}")

    def pass_on(self, name: str, line: str) -> None:
        self._print(name, Text(clean_line(readable(line))))

    def _print(self, name: str, line: Text) -> None:
        colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
        try:
            self._console.print(Text(f"{name:<{_NAME_CHARS}}| ", style=colour) + line, soft_wrap=True)
        except OSError:
            # The terminal is gone, or the program at the other end of the pipe.
            self._stop.set()


def readable(line: str) -> str:
    """Turn a line of JSON log into one for people; any other line stays as it is."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict) or "message" not in record:
        return line
    time, level, message = (str(record.pop(name, "")) for name in ("time", "level", "message"))
    record.pop("logger", None)
    fields = "".join(f"  {key}={value}" for key, value in record.items())
    return f"{time[11:19]} {level:<7} {message}{fields}"
