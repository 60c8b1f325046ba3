"""What has piled up in the database, told without looking at all of it."""

from typing import Any, NamedTuple

from peewee import PostgresqlDatabase

from models.base import Database, connection
from models.dead_letter_rows import DeadLetter
from models.tasks import Task
from models.webhook_delivery import WebhookDelivery

#: Rows counted at most: more of them are as many as this, and cost no more.
COUNTED_MAX = 10_000
_POSTGRES_NOW = "SELECT extract(epoch FROM clock_timestamp()) * 1000"


class Backlog(NamedTuple):
    """How much there is; times in epoch ms, None when there is nothing.

    Args:
        uncounted_since_ms: when the oldest task ended that is not in the sums.
        dead_letters: `COUNTED_MAX` means so many or more, as for deliveries.
        deliveries: those that are pending or have failed, by state.
        oldest_delivery_ms: when the oldest pending one was announced.
    """

    uncounted_since_ms: int | None
    dead_letters: int
    deliveries: dict[str, int]
    oldest_delivery_ms: int | None


class Backlogs:
    """Looks at the backlogs of a database. Every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self) -> Backlog:
        """Each backlog as it is now; every question is read off an index."""
        is_uncounted = ~Task.is_counted & Task.ended_ms.is_null(is_null=False)
        uncounted = Task.select(Task.ended_ms).where(is_uncounted).order_by(Task.ended_ms)
        pending = WebhookDelivery.select(WebhookDelivery.created_ms).where(WebhookDelivery.state == "pending")
        with connection(self._database):
            return Backlog(
                uncounted_since_ms=_first(uncounted),
                dead_letters=_counted(DeadLetter.select(DeadLetter.id)),
                deliveries={state: _counted(_deliveries(state)) for state in ("pending", "failed")},
                oldest_delivery_ms=_first(pending.order_by(WebhookDelivery.id)),
            )

    def now_ms(self) -> int | None:
        """What the clock of the database's server says, epoch ms; None for SQLite, which has none of its own."""
        if not isinstance(self._database, PostgresqlDatabase):
            return None
        with connection(self._database):
            asked: Any = self._database.execute_sql(_POSTGRES_NOW)  # type: ignore[no-untyped-call]
            return int(asked.fetchone()[0])


def _deliveries(state: str) -> Any:
    return WebhookDelivery.select(WebhookDelivery.id).where(WebhookDelivery.state == state)


def _first(query: Any) -> int | None:
    found = query.limit(1).scalar()
    return None if found is None else int(found)


def _counted(query: Any) -> int:
    return int(query.limit(COUNTED_MAX).count())
