"""Deliveries as people look at them: listed, counted, and sent again."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from peewee import Expression

from models.base import Database, connection, write
from models.delivery_line import put_notify_step
from models.scope import EVERYTHING, Scope
from models.text import storable
from models.webhook_delivery import DeliveryRow, WebhookDelivery, delivery_row
from pipeline.clock import Clock

log = logging.getLogger("pipeline.deliveries")

#: Deliveries changed in one transaction, so that none takes long, whatever is chosen.
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class ChosenDeliveries:
    """Which deliveries are meant: those to which all that is given applies, so an empty one means all.

    Args:
        ids: any of these; None for whatever id.
        within: no others than these, whatever else is given.
    """

    ids: tuple[int, ...] | None = None
    task_id: str | None = None
    mac: str | None = None
    state: str | None = None
    within: Scope = EVERYTHING

    def named(self) -> dict[str, Any]:
        """What is given, by name, besides the scope."""
        names = [name for name in self.__dataclass_fields__ if name != "within"]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def conditions(self) -> Iterator[Expression]:
        """At least one; together they say which rows are meant."""
        yield WebhookDelivery.id > 0
        yield from self.within.conditions(WebhookDelivery)
        if self.ids is not None:
            yield WebhookDelivery.id.in_(self.ids)
        for name in ("task_id", "mac", "state"):
            if (value := getattr(self, name)) is not None:
                yield getattr(WebhookDelivery, name) == storable(value)

    def replayable(self) -> list[Expression]:
        """Those that a replay means: what has failed, and what was delivered only where that is asked for by name."""
        if self.ids is not None or self.state is not None:
            return [*self.conditions(), WebhookDelivery.state != "pending"]
        return [*self.conditions(), WebhookDelivery.state == "failed"]


class Deliveries:
    """The deliveries of a database; every method raises `DatabaseUnavailable`.

    Args:
        ttl_ms: how long one that is replayed is worth making.
    """

    def __init__(self, database: Database, clock: Clock, *, ttl_ms: int) -> None:
        self._database = database
        self._clock = clock
        self._ttl_ms = ttl_ms

    def get(self, delivery_id: int, within: Scope = EVERYTHING) -> DeliveryRow | None:
        chosen = ChosenDeliveries(ids=(delivery_id,), within=within)
        return next(iter(self.page(chosen, before=None, limit=1)), None)

    def page(self, chosen: ChosenDeliveries, *, before: int | None, limit: int) -> list[DeliveryRow]:
        """The next `limit` deliveries, newest first.

        Args:
            before: the last id of the page before; None for the first page.
        """
        where = [*chosen.conditions(), *([] if before is None else [WebhookDelivery.id < before])]
        with connection(self._database):
            query = WebhookDelivery.select().where(*where).order_by(WebhookDelivery.id.desc()).limit(limit)
            return [delivery_row(delivery) for delivery in query]

    def known(self, ids: tuple[int, ...], within: Scope = EVERYTHING) -> set[int]:
        """Those of the ids that there are inside the scope."""
        where = ChosenDeliveries(ids=ids, within=within).conditions()
        with connection(self._database):
            query = WebhookDelivery.select(WebhookDelivery.id).where(*where)
            return {delivery.id for delivery in query}

    def count_replayable(self, chosen: ChosenDeliveries) -> int:
        """How many deliveries `replay` would send again."""
        with connection(self._database):
            return int(WebhookDelivery.select().where(*chosen.replayable()).count())

    def replay(self, chosen: ChosenDeliveries) -> int:
        """Send the chosen deliveries again, under the ids that their receivers know, with all attempts; oldest first.

        Returns: how many; those that are pending already are left alone.
        """
        replayed, last = 0, 0
        while chunk := self._replay_chunk(chosen, last):
            replayed, last = replayed + len(chunk), chunk[-1]
        log.info("deliveries are sent again", extra={"chosen": chosen.named(), "deliveries": replayed})
        return replayed

    def _replay_chunk(self, chosen: ChosenDeliveries, last: int) -> list[int]:
        now_ms = self._clock.now_ms()
        with write(self._database):
            meant = WebhookDelivery.select().where(*chosen.replayable(), WebhookDelivery.id > last)
            rows = list(meant.order_by(WebhookDelivery.id).limit(_CHUNK))
            ids = [row.id for row in rows]
            if ids:
                WebhookDelivery.update(
                    state="pending",
                    attempts=0,
                    ended_ms=None,
                    due_ms=now_ms,
                    expires_ms=now_ms + self._ttl_ms,
                    is_counted=False,
                ).where(WebhookDelivery.id.in_(ids), WebhookDelivery.state != "pending").execute()
                for task_id in {row.task_id for row in rows}:
                    put_notify_step(task_id, now_ms)
            return ids
