"""The way of a pending delivery: due, in line, attempted, and at its end; for the scheduler and the worker.

Every method raises `DatabaseUnavailable`, and has then written all or nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, cast

from peewee import Expression, fn

from models.base import Database, connection, write
from models.effects import put_steps
from models.rows import StepRecord
from models.tasks import Task
from models.text import storable
from models.webhook_delivery import (
    IS_LINED,
    IS_PENDING,
    DeliveryRow,
    WebhookDelivery,
    delivery_row,
    line_id,
    parsed_line_id,
)
from pipeline.clock import Clock

#: Seconds from one attempt to the next: 12 attempts in just under 24 h.
RETRY_WAITS_S = (5, 30, 120, 600, 1800, 3600, 7200, 10_800, 14_400, 21_600, 25_200)
ATTEMPTS_MAX = len(RETRY_WAITS_S) + 1

_DIED = "its worker died during the last attempt"
_EXPIRED = "it could not be delivered in time"


class Lined(NamedTuple):
    """A delivery as it is put in line.

    Args:
        lined: the number of this turn, from 1.
        size_bytes: of its body.
        traceparent: of the span that wrote it; None when no trace was written.
    """

    delivery_id: int
    lined: int
    site: str
    mac: str
    size_bytes: int
    traceparent: str | None = None

    @property
    def device(self) -> tuple[str, str]:
        return self.site, self.mac

    @property
    def name(self) -> str:
        """Under which it stands in the queue."""
        return line_id(self.delivery_id, self.lined)


class DeliveryLine:
    """The pending deliveries of a database; call it inside `models.base.connection()`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def in_line(self) -> dict[tuple[str, str], int]:
        """How many deliveries of each device, by site and MAC, are in line or under way."""
        device = (WebhookDelivery.site, WebhookDelivery.mac)
        with connection(self._database):
            counted = WebhookDelivery.select(*device, fn.COUNT(WebhookDelivery.id)).where(IS_LINED).group_by(*device)
            rows = cast("Iterable[tuple[str, str, int]]", counted.tuples())
            return {(site, mac): number for site, mac, number in rows}

    def due(self, *, passing_over: Collection[tuple[str, str]], limit: int) -> list[Lined]:
        """The deliveries due longest, as they are to be put in line next; none of the devices passed over."""
        where = [IS_PENDING, WebhookDelivery.lined_ms.is_null(), WebhookDelivery.due_ms <= self._clock.now_ms()]
        where += [(WebhookDelivery.site != site) | (WebhookDelivery.mac != mac) for site, mac in passing_over]
        with connection(self._database):
            oldest = WebhookDelivery.select().where(*where).order_by(WebhookDelivery.due_ms, WebhookDelivery.id)
            return [_lined(row, row.lined + 1) for row in oldest.limit(limit)]

    def note_lined(self, lined: Lined) -> bool:
        """Say that it is about to be put in line; False when another scheduler was first.

        It is said before it is done: a worker must find it said, and what is said but not done is put right later.
        """
        with write(self._database):
            return self._change(
                (WebhookDelivery.id == lined.delivery_id)
                & (WebhookDelivery.lined == lined.lined - 1)
                & WebhookDelivery.lined_ms.is_null(),
                lined=lined.lined,
                lined_ms=self._clock.now_ms(),
            )

    def long_lined(self, *, for_ms: int) -> list[Lined]:
        """The deliveries that have been in line, or under way, for so long."""
        before_ms = self._clock.now_ms() - for_ms
        with connection(self._database):
            rows = WebhookDelivery.select().where(IS_PENDING, IS_LINED, WebhookDelivery.lined_ms < before_ms)
            return [_lined(row, row.lined) for row in rows]

    def take_out(self, lined: Lined) -> None:
        """Say that it is not in line any more; it comes back when it is due, if an attempt is left."""
        is_it = (WebhookDelivery.id == lined.delivery_id) & (WebhookDelivery.lined == lined.lined)
        with write(self._database):
            self._change(is_it, lined_ms=None)
            self._fail(is_it & (WebhookDelivery.attempts >= ATTEMPTS_MAX), _DIED)

    def give_up_expired(self) -> int:
        """Let fail what was not delivered within its time to live; returns how many."""
        with write(self._database):
            is_late = (WebhookDelivery.expires_ms < self._clock.now_ms()) & WebhookDelivery.lined_ms.is_null()
            return self._fail(is_late, _EXPIRED)

    def begin(self, name: str, token: int) -> DeliveryRow | None:
        """Begin an attempt, which counts from here on; None when there is nothing to attempt (any more).

        Args:
            name: under which it was claimed.
            token: of the lease; from here on no older one can write.
        """
        delivery_id, lined = parsed_line_id(name) or (0, 0)
        now_ms = self._clock.now_ms()
        is_ours = (WebhookDelivery.id == delivery_id) & (WebhookDelivery.lined == lined) & IS_LINED
        is_ours &= (WebhookDelivery.token < token) & (WebhookDelivery.attempts < ATTEMPTS_MAX)
        with write(self._database):
            known = WebhookDelivery.get_or_none(IS_PENDING & is_ours)
            if known is None:
                return None
            # As if it failed: should the worker die, nobody else has to know when the next attempt is.
            wait_s = RETRY_WAITS_S[known.attempts] if known.attempts < len(RETRY_WAITS_S) else 0
            is_begun = self._change(
                is_ours,
                token=token,
                attempts=known.attempts + 1,
                last_attempt_ms=now_ms,
                due_ms=now_ms + wait_s * 1000,
            )
            return delivery_row(WebhookDelivery.get_by_id(delivery_id)) if is_begun else None

    def note_taken(self, delivery_id: int, token: int, status: int) -> bool:
        """Record that the receiver took it; False when a newer lease has begun."""
        is_ours = (WebhookDelivery.id == delivery_id) & (WebhookDelivery.token == token)
        with write(self._database):
            return bool(self._end(is_ours, "delivered", last_status=status, error=""))

    def note_failure(self, delivery_id: int, token: int, status: int | None, error: str, *, is_final: bool) -> bool:
        """Record that an attempt failed; after the last one, or a final failure, the delivery has. False as above."""
        is_ours = (WebhookDelivery.id == delivery_id) & (WebhookDelivery.token == token)
        with write(self._database):
            if not self._change(is_ours, last_status=status, error=storable(error), lined_ms=None):
                return False
            is_over = is_ours if is_final else is_ours & (WebhookDelivery.attempts >= ATTEMPTS_MAX)
            self._fail(is_over, error)
            return True

    def standing_of(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Of these names in the queue, those under which a delivery is in line: as queued, without a code."""
        wanted = dict(filter(None, map(parsed_line_id, names)))
        if not wanted:
            return {}
        with connection(self._database):
            rows = WebhookDelivery.select().where(IS_PENDING, IS_LINED, WebhookDelivery.id.in_(list(wanted)))
            return {line_id(row.id, row.lined): ("queued", "") for row in rows if row.lined == wanted[row.id]}

    def _change(self, is_meant: Expression, **changes: Any) -> bool:
        return bool(WebhookDelivery.update(**changes).where(IS_PENDING, is_meant).execute())

    def _fail(self, is_meant: Expression, reason: str) -> int:
        return self._end(is_meant, "failed", error=storable(reason))

    def _end(self, is_meant: Expression, state: str, **changes: Any) -> int:
        now_ms = self._clock.now_ms()
        ended = (
            WebhookDelivery.update(state=state, ended_ms=now_ms, lined_ms=None, **changes)
            .where(IS_PENDING, is_meant)
            .returning(WebhookDelivery.task_id)
            .execute()
        )
        task_ids = [row.task_id for row in ended]
        for task_id in task_ids:
            put_notify_step(task_id, now_ms)
        return len(task_ids)


def put_notify_step(task_id: str, now_ms: int) -> None:
    """Let the step of a task that has ended say how its announcements stand, where one of them has changed."""
    task = Task.get_or_none(Task.task_id == task_id)
    # One that was replayed has a new end to announce, or will have; one that was deleted has no steps.
    if task is None or task.ended_ms is None:
        return
    is_of_end = (WebhookDelivery.task_id == task_id) & (WebhookDelivery.end_token == task.token)
    rows = list(WebhookDelivery.select().where(is_of_end))
    failed = "; ".join(f"{row.effect}: {row.error}" for row in rows if row.state == "failed")
    if any(row.state == "pending" for row in rows):
        put_steps(task_id, [StepRecord("notify", "pending", task.ended_ms, None)])
    elif rows:
        put_steps(task_id, [StepRecord("notify", "failed" if failed else "done", task.ended_ms, now_ms, failed)])


def _lined(row: WebhookDelivery, lined: int) -> Lined:
    return Lined(row.id, lined, row.site, row.mac, len(row.body), row.traceparent)
