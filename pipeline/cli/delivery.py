"""`fairlane delivery list|show|replay`: announcements, and how they went."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from models.audit import AuditTrail
from models.base import bound, connection
from models.deliveries import ChosenDeliveries, Deliveries
from models.webhook_delivery import DELIVERY_STATES, DeliveryRow
from pipeline.cli.deeds import recorded
from pipeline.cli.durations import time_of
from pipeline.cli.options import check_mac, data_dir_option, settings_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option, show_rows, show_table
from pipeline.cli.wiring import deliveries_of
from pipeline.clock import SystemClock
from pipeline.errors import DeliveryNotFound
from pipeline.receivers import shown_url

_C = TypeVar("_C", bound=Callable[..., Any])
_ID = click.IntRange(1, 2**53 - 1)

_FILTERS = (
    click.option("--state", type=click.Choice(DELIVERY_STATES), help="Only those that stand so."),
    click.option("--task", "task_id", help="Only those of this task."),
    click.option("--mac", callback=check_mac, help="Only of this device."),
)


def _filter_options(command: _C) -> _C:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


@click.group("delivery")
def command() -> None:
    """List, show and make again the deliveries of announcements."""


@command.command("list")
@_filter_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Shown at most.")
@click.option("--before", type=_ID, help="Only those with a smaller id: the next page.")
@data_dir_option
@output_option
def show_list(*, data_dir: Path | None, output: OutputFormat, limit: int, before: int | None, **filters: Any) -> None:
    """List deliveries, newest first."""
    deliveries = deliveries_of(settings_of(data_dir))
    with connection():
        page = deliveries.page(ChosenDeliveries(**filters), before=before, limit=limit)
    if output != "table":
        show_rows([_told(delivery) for delivery in page], output)
        return
    columns = ["id", "task", "device", "what", "to", "state", "attempts", "last status", "last attempt", "error"]
    show_table(columns, [_table_row(delivery) for delivery in page])
    if len(page) == limit:
        click.echo(f"there may be more: --before {page[-1].id}")


@command.command("show")
@click.argument("delivery_id", metavar="ID", type=_ID)
@data_dir_option
@output_option
def show(*, delivery_id: int, data_dir: Path | None, output: OutputFormat) -> None:
    """Show all that is known of one delivery, with what it announces."""
    deliveries = deliveries_of(settings_of(data_dir))
    with connection():
        delivery = deliveries.get(delivery_id)
    if delivery is None:
        raise DeliveryNotFound(f"no delivery {delivery_id} in the database")
    fields = {**_told(delivery), "body": delivery.body}
    if output != "table":
        click.echo(to_json(fields, indent=2 if output == "json" else None))
        return
    named = {name: time_of(value) if name.endswith("_ms") else value for name, value in fields.items()}
    rows = [(name.removesuffix("_ms").replace("_", " "), str(value)) for name, value in named.items() if value != ""]
    show_table(["", ""], rows, has_head=False)


@command.command("replay")
@click.argument("ids", nargs=-1, type=_ID)
@_filter_options
@click.option("--all", "is_all", is_flag=True, help="Every delivery that failed.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--yes", is_flag=True, help="Do it without asking back.")
@data_dir_option
@output_option
def replay(
    *,
    ids: tuple[int, ...],
    is_all: bool,
    dry_run: bool,
    yes: bool,
    data_dir: Path | None,
    output: OutputFormat,
    **filters: Any,
) -> None:
    """Make deliveries again: by their IDS, by filters, or all that failed.

    What was delivered is delivered again only by its id, or with --state delivered. The receiver sees the same
    webhook-id as before.
    """
    chosen = ChosenDeliveries(ids=ids or None, **filters)
    if is_all == (chosen != ChosenDeliveries()):
        raise click.UsageError("say which: IDS, at least one filter, or --all and nothing else")
    deliveries = deliveries_of(settings_of(data_dir))
    with connection():
        _refuse_unknown(deliveries, ids)
        count = deliveries.count_replayable(chosen)
        if not dry_run:
            if is_all and not yes:
                raise click.UsageError(f"this makes all {count} again; say --yes to do it, --dry-run to only count")
            with recorded(AuditTrail(bound(), SystemClock()), "delivery replay", to_json(chosen.named())):
                count = deliveries.replay(chosen)
    if output == "table":
        click.echo(f"{count} deliveries {'would be' if dry_run else 'will be'} made again")
    else:
        click.echo(to_json({"deliveries": count, "dry_run": dry_run}))


def _refuse_unknown(deliveries: Deliveries, ids: tuple[int, ...]) -> None:
    unknown = sorted(set(ids) - deliveries.known(ids)) if ids else []
    if unknown:
        raise DeliveryNotFound(f"no delivery {', '.join(map(str, unknown))} in the database; nothing was done")


def _told(delivery: DeliveryRow) -> dict[str, Any]:
    """What is shown of a delivery in a list: what it announces is long, and what follows `?` may be a secret."""
    fields = {name: value for name, value in dataclasses.asdict(delivery).items() if name != "body"}
    return {**fields, "url": shown_url(delivery.url), "message_id": delivery.message_id}


def _table_row(delivery: DeliveryRow) -> list[object]:
    names = ("id", "task_id", "mac", "type")
    how = (delivery.state, delivery.attempts, delivery.last_status or "", time_of(delivery.last_attempt_ms))
    return [*(getattr(delivery, name) for name in names), shown_url(delivery.url), *how, delivery.error]
