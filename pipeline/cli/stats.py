"""`fairlane stats`: what was done, per day, device, lane and outcome, what was found, and how long it waited."""

from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import click

from models.statistics import Count, Dimension, Period, Waits, number_of, spelled
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.cli.wiring import statistics_of
from pipeline.clock import SystemClock

_DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_USUAL_DAYS = 7
_ROWS_MAX = 10_000
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command("stats")
@click.option("--from", "first", type=_DAY, help=f"First day. [default: {_USUAL_DAYS} days with today]")
@click.option("--to", "last", type=_DAY, help="Last day. [default: today]")
@click.option(
    "--by",
    type=click.Choice(_DIMENSIONS),
    multiple=True,
    default=("day", "lane", "outcome"),
    show_default=True,
    help="What to tell apart; again for more.",
)
@click.option("--waits", "are_waits", is_flag=True, help="Show how long tasks waited, per day and lane, instead.")
@data_dir_option
@output_option
def command(
    *,
    first: datetime | None,
    last: datetime | None,
    by: tuple[Dimension, ...],
    are_waits: bool,
    data_dir: Path | None,
    output: OutputFormat,
) -> None:
    """Show what was done on which day; what ended in the last seconds may not be counted yet."""
    statistics = statistics_of(settings_of(data_dir))
    last_day = number_of(last.date()) if last else statistics.day_of(SystemClock().now_ms())
    period = Period(number_of(first.date()) if first else last_day - _USUAL_DAYS + 1, last_day)
    if are_waits:
        rows = [_wait_row(waits) for waits in statistics.waits(period)]
    else:
        rows = [_count_row(count) for count in statistics.counts(period, tuple(dict.fromkeys(by)), limit=_ROWS_MAX)]
    if output != "table":
        show_rows(rows, output)
    elif rows and rows[0].get("tasks"):
        show_table([name.replace("_", " ") for name in rows[0]], [list(row.values()) for row in rows])
    else:
        click.echo(f"nothing ended from {spelled(period.first_day)} to {spelled(period.last_day)}")


def _count_row(count: Count) -> dict[str, object]:
    return {**_named(count.of), "tasks": count.tasks, "with_hits": count.with_hits, "hits": count.hits}


def _wait_row(waits: Waits) -> dict[str, object]:
    return _named(waits._asdict())


def _named(of: dict[str, Any]) -> dict[str, object]:
    return {name: spelled(value) if name == "day" else value for name, value in of.items()}
