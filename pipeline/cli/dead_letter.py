"""`fairlane dead-letter list|show|replay|drop`: tasks that failed or died."""

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import click

from models.audit import AuditTrail
from models.base import bound, connection
from models.dead_letters import DEAD_STATES, REPLAYS, Chosen, DeadLetterRow, DeadLetters
from pipeline.cli.deeds import recorded
from pipeline.cli.durations import span_ms, time_of
from pipeline.cli.interrupts import handled_signals
from pipeline.cli.options import check_mac, data_dir_option, settings_of
from pipeline.cli.progress import bar_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.cli.wiring import dead_letters_of
from pipeline.clock import SystemClock
from pipeline.errors import DeadLetterNotFound
from pipeline.queue import TASK_LANES

_C = TypeVar("_C", bound=Callable[..., Any])
_ID = click.IntRange(1, 2**53 - 1)
#: Dead letters that are not replayed without being asked back.
_MANY = 1_000
#: Seconds between two looks at how far the scheduler is.
_LOOK_S = 0.5


def _ago(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    age_ms = span_ms(ctx, param, value)
    return None if age_ms is None else SystemClock().now_ms() - age_ms


_FILTERS = (
    click.option("--task", "task_id", help="Only the letters of this task."),
    click.option("--mac", callback=check_mac, help="Only of this device."),
    click.option("--code", help="Only with this error code, such as engine_timeout."),
    click.option("--lane", type=click.Choice(TASK_LANES), help="Only of this lane."),
    click.option("--state", type=click.Choice(DEAD_STATES), help="Only tasks that ended so."),
    click.option("--replay", type=click.Choice(REPLAYS), help="Only those whose replay has come to this."),
    click.option("--older-than", "older_than_ms", metavar="AGE", callback=_ago, help="Dead for more than 2h."),
    click.option("--newer-than", "newer_than_ms", metavar="AGE", callback=_ago, help="Dead for 15m at most."),
)


def _filter_options(command: _C) -> _C:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def _choice_options(command: _C) -> _C:
    """Add ids, filters, `--all`, `--dry-run` and `--yes`."""
    command = click.option("--yes", is_flag=True, help="Do it without asking back.")(command)
    command = click.option("--dry-run", is_flag=True, help="Only count.")(command)
    command = click.option("--all", "is_all", is_flag=True, help="Every dead letter.")(command)
    return click.argument("ids", nargs=-1, type=_ID)(_filter_options(command))


@click.group("dead-letter")
def command() -> None:
    """List, show, replay and drop tasks that failed or died."""


@command.command("list")
@_filter_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Letters shown, at most.")
@click.option("--before", type=_ID, help="Only letters with a smaller id: the next page.")
@data_dir_option
@output_option
def show_list(
    *, data_dir: Path | None, output: OutputFormat, limit: int, before: int | None, **filters: str | int | None
) -> None:
    """List dead letters, newest first."""
    letters = dead_letters_of(settings_of(data_dir))
    with connection():
        page = letters.page(_chosen((), filters), before=before, limit=limit)
    if output != "table":
        show_rows([dataclasses.asdict(letter) for letter in page], output)
        return
    columns = ["id", "task", "device", "lane", "state", "code", "dead since", "replay", "message"]
    show_table(columns, [_table_row(letter) for letter in page])
    if len(page) == limit:
        click.echo(f"there may be more: --before {page[-1].id}")


@command.command("show")
@click.argument("letter_id", metavar="ID", type=_ID)
@data_dir_option
@output_option
def show(*, letter_id: int, data_dir: Path | None, output: OutputFormat) -> None:
    """Show all that is known of one dead letter."""
    letters = dead_letters_of(settings_of(data_dir))
    with connection():
        letter = letters.get(letter_id)
    if letter is None:
        raise DeadLetterNotFound(f"no dead letter {letter_id} in the database")
    fields = dataclasses.asdict(letter)
    if output != "table":
        click.echo(to_json(fields, indent=2 if output == "json" else None))
        return
    named = {name: time_of(value) if name.endswith("_ms") else value for name, value in fields.items()}
    named["payload"] = to_json(letter.payload)
    rows = [(name.removesuffix("_ms").replace("_", " "), str(value)) for name, value in named.items() if value != ""]
    show_table(["", ""], rows, has_head=False)


@command.command("replay")
@_choice_options
@click.option("--wait", is_flag=True, help="Return when the scheduler has replayed all that anybody asked for.")
@data_dir_option
@output_option
def replay(
    *,
    ids: tuple[int, ...],
    is_all: bool,
    dry_run: bool,
    yes: bool,
    wait: bool,
    data_dir: Path | None,
    output: OutputFormat,
    **filters: str | int | None,
) -> None:
    """Have dead letters put back in line: by their IDS, by filters, or all.

    The scheduler does it, oldest first, FAIRLANE_REPLAY_PER_SECOND at most, as each device has room. Those that were
    replayed before are left alone.
    """
    chosen = _chosen(ids, filters, is_all=is_all)
    letters = dead_letters_of(settings_of(data_dir))
    with connection():
        _refuse_unknown(letters, ids)
        count = letters.count_replayable(chosen)
        if not dry_run:
            _insist(f"this replays {count} dead letters", is_needed=(is_all or count > _MANY) and not yes)
            with _recorded("dead-letter replay", chosen):
                count = letters.ask_replay(chosen)
    if wait and not dry_run:
        _wait_for_replays(letters)
    what = "would be replayed" if dry_run else "have been replayed, or refused" if wait else "will be replayed"
    _report(count, what, output, is_dry=dry_run)


@command.command("drop")
@_choice_options
@data_dir_option
@output_option
def drop(
    *,
    ids: tuple[int, ...],
    is_all: bool,
    dry_run: bool,
    yes: bool,
    data_dir: Path | None,
    output: OutputFormat,
    **filters: str | int | None,
) -> None:
    """Delete dead letters for good: by their IDS, by filters, or all. Their tasks stay as they are."""
    chosen = _chosen(ids, filters, is_all=is_all)
    letters = dead_letters_of(settings_of(data_dir))
    with connection():
        _refuse_unknown(letters, ids)
        count = letters.count(chosen)
        if not dry_run:
            _insist(f"this deletes {count} dead letters for good", is_needed=not yes)
            with _recorded("dead-letter drop", chosen):
                count = letters.drop(chosen)
    _report(count, "would be dropped" if dry_run else "dropped", output, is_dry=dry_run)


def _wait_for_replays(letters: DeadLetters) -> None:
    """Return when nothing that was asked for is left; Ctrl-C leaves it to the scheduler."""
    with connection():
        left = letters.count_asked()
    with handled_signals() as interrupts, bar_of("replaying", left) as advance:
        while left:
            interrupts.raise_if_stopped(wait_s=_LOOK_S)
            with connection():
                before, left = left, letters.count_asked()
            advance(before - left)


def _recorded(action: str, chosen: Chosen) -> AbstractContextManager[None]:
    return recorded(AuditTrail(bound(), SystemClock()), action, to_json(chosen.named()))


def _chosen(ids: tuple[int, ...], filters: dict[str, Any], *, is_all: bool | None = None) -> Chosen:
    """What the arguments choose; when `is_all` is given they must choose something, or all."""
    chosen = Chosen(ids=ids or None, **filters)
    if is_all is not None and is_all == (chosen != Chosen()):
        raise click.UsageError("say which: IDS, at least one filter, or --all and nothing else")
    return chosen


def _refuse_unknown(letters: DeadLetters, ids: tuple[int, ...]) -> None:
    unknown = sorted(set(ids) - letters.known(ids)) if ids else []
    if unknown:
        raise DeadLetterNotFound(f"no dead letter {', '.join(map(str, unknown))} in the database; nothing was done")


def _insist(what: str, *, is_needed: bool) -> None:
    if is_needed:
        raise click.UsageError(f"{what}; say --yes to do it, --dry-run to only count")


def _report(count: int, what: str, output: OutputFormat, *, is_dry: bool) -> None:
    if output == "table":
        click.echo(f"{count} dead letters {what}")
    else:
        click.echo(to_json({"letters": count, "dry_run": is_dry}))


def _table_row(letter: DeadLetterRow) -> list[object]:
    names = ("id", "task_id", "mac", "lane", "state", "code")
    return [*(getattr(letter, name) for name in names), time_of(letter.dead_ms), _replay_of(letter), letter.message]


def _replay_of(letter: DeadLetterRow) -> str:
    if letter.replayed_ms is not None:
        return f"done {time_of(letter.replayed_ms)}"
    if letter.replay_asked_ms is not None:
        return "asked for"
    return f"refused: {letter.replay_refusal}" if letter.replay_refusal else ""
