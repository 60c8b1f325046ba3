"""The command `fairlane`: one file per noun, loaded when it is called, so that help is fast."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NamedTuple

import click

from pipeline import __version__
from pipeline.cli.exits import INTERRUPTED, exit_code_of, message_of


class _Entry(NamedTuple):
    module: str
    summary: str


_COMMANDS = {
    "demo": _Entry("pipeline.cli.demo", "Start everything here, send sample pictures and texts, show what came out."),
    "up": _Entry("pipeline.cli.up", "Run all processes on this machine until Ctrl-C."),
    "submit": _Entry("pipeline.cli.submit", "Send pictures, folders of pictures or a text; wait for the results."),
    "status": _Entry("pipeline.cli.status", "Show what waits, what runs and who works."),
    "watch": _Entry("pipeline.cli.watch", "Watch lanes, workers and who waits longest, in place; also `top`."),
    "task": _Entry("pipeline.cli.task", "Show, list and cancel tasks."),
    "device": _Entry("pipeline.cli.device", "List, show, limit, weigh, pause and resume devices."),
    "dead-letter": _Entry("pipeline.cli.dead_letter", "List, show, replay and drop tasks that failed or died."),
    "stats": _Entry("pipeline.cli.stats", "Show what was done per day, device, lane and outcome, and the waits."),
    "delivery": _Entry("pipeline.cli.delivery", "List, show and make again the deliveries of announcements."),
    "worker": _Entry("pipeline.cli.worker", "Look at the live workers."),
    "words": _Entry("pipeline.cli.words", "Check lists of words and try them on a text."),
    "key": _Entry("pipeline.cli.key", "Make, show, rotate and revoke API keys; show who changed what."),
    "audit": _Entry("pipeline.cli.audit", "Recount the queue and say whether its books balance."),
    "simulate": _Entry("pipeline.cli.simulate", "Play scenarios on a virtual clock and check the bounds of fairness."),
    "bench": _Entry("pipeline.cli.bench", "Send texts and pictures to a running fairlane; say how fast it is."),
    "recover": _Entry("pipeline.cli.recover", "Put every unfinished task of the database back in line."),
    "migrate": _Entry("pipeline.cli.migrate", "Bring the database to the layout of this version."),
    "doctor": _Entry("pipeline.cli.doctor", "Show all settings; check everything fairlane needs; say how to cure it."),
    "completion": _Entry("pipeline.cli.completion", "Print what makes a shell complete commands, options and values."),
}

#: Other names of commands.
_ALIASES = {"top": "watch"}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(_ALIASES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fairlane")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def fairlane(*, debug: bool) -> None:
    """Fair, safe and fast OCR and content checks for very many devices.

    Settings come from FAIRLANE_* in the environment and from .env; `fairlane doctor` lists them.

    Exit codes: 0 ok, 1 failed, 2 usage or settings, 3 not found, 4 unreachable, 5 refused for now.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(given))


def run(arguments: list[str]) -> int:
    """Run a command; return its exit code. What went wrong is one message on standard error."""
    try:
        result = fairlane.main(args=arguments, prog_name="fairlane", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as exc:  # noqa: BLE001 (the last resort: whoever typed a command is shown one message)
        return _report(exc, arguments)
    return result if isinstance(result, int) else 0


def _report(exc: Exception, arguments: list[str]) -> int:
    if "--debug" in arguments:
        traceback.print_exception(exc)
    click.echo(f"fairlane: {message_of(exc)}", err=True)
    return exit_code_of(exc)
