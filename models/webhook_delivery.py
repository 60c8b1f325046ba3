"""Deliveries: one row for each announcement of a task's end to one receiver, kept with how it went."""

from dataclasses import dataclass

from peewee import SQL, BigAutoField, BigIntegerField, BooleanField, CharField, Expression, IntegerField, TextField

from models.base import BaseModel

#: How a delivery may stand.
DELIVERY_STATES = ("pending", "delivered", "failed")

#: Begins the names under which deliveries stand in the queue; no id that a client may choose holds a dot.
_LINE_PREFIX = "webhook"


class WebhookDelivery(BaseModel):
    """One announcement to one receiver.

    `effect` says which: `webhook` is the configured one, `callback` that of the request. `end_token` tells the ends of
    a task that was replayed apart. `lined` counts how often it was put in line, `lined_ms` is null while it is not;
    `token` is that of the newest lease that wrote here; `is_counted` says that its end is in the sums
    (`models/totals.py`); one that is sent again ends and counts again. `traceparent` is that of the span that wrote
    the row, null when no trace was written.
    """

    id = BigAutoField()
    task_id = CharField(64)
    effect = CharField(16)
    end_token = BigIntegerField()
    type = CharField(32)
    site = CharField(64)
    mac = CharField(12)
    lane = CharField(16)
    url = TextField()
    body = TextField()
    state = CharField(16)
    attempts = IntegerField(default=0)
    token = BigIntegerField(default=0)
    lined = IntegerField(default=0)
    lined_ms = BigIntegerField(null=True)
    created_ms = BigIntegerField()
    due_ms = BigIntegerField()
    expires_ms = BigIntegerField()
    last_attempt_ms = BigIntegerField(null=True)
    ended_ms = BigIntegerField(null=True)
    last_status = IntegerField(null=True)
    error = TextField(default="")
    is_counted = BooleanField(default=False)
    traceparent = CharField(64, null=True)

    class Meta:
        indexes = ((("task_id", "effect", "end_token"), True),)


IS_PENDING: Expression = WebhookDelivery.state == "pending"
IS_LINED: Expression = WebhookDelivery.lined_ms.is_null(is_null=False)

# What is due and what is in line is found without those that have ended; each page of each filter, newest first, too.
WebhookDelivery.add_index(WebhookDelivery.due_ms, where=SQL("state = 'pending'"), name="webhook_delivery_due")
WebhookDelivery.add_index(WebhookDelivery.lined_ms, where=IS_LINED, name="webhook_delivery_lined")
WebhookDelivery.add_index(WebhookDelivery.state, WebhookDelivery.id, name="webhook_delivery_state")
WebhookDelivery.add_index(
    WebhookDelivery.is_counted, WebhookDelivery.ended_ms, name="webhook_delivery_is_counted_ended_ms"
)
WebhookDelivery.add_index(WebhookDelivery.mac, WebhookDelivery.id, name="webhook_delivery_mac")


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery; times in epoch ms, None when not yet.

    Args:
        lane: of the task.
        due_ms: when the next attempt may be made, while it is pending.
        last_status: HTTP status of the last reply; None when there was none.
        error: of the last attempt that failed; empty once it was delivered.
    """

    id: int
    task_id: str
    effect: str
    end_token: int
    type: str
    site: str
    mac: str
    lane: str
    url: str
    body: str
    state: str
    attempts: int
    created_ms: int
    due_ms: int
    last_attempt_ms: int | None
    ended_ms: int | None
    last_status: int | None
    error: str

    @property
    def message_id(self) -> str:
        """The id that the receiver is told, the same at each attempt and replay."""
        return f"msg_{self.task_id}_{self.effect}_{self.end_token}"


def delivery_row(delivery: WebhookDelivery) -> DeliveryRow:
    return DeliveryRow(**{name: getattr(delivery, name) for name in DeliveryRow.__dataclass_fields__})


def line_id(delivery_id: int, lined: int) -> str:
    """The name under which a delivery stands in the queue: a new one each time it is put in line."""
    return f"{_LINE_PREFIX}.{delivery_id}.{lined}"


def parsed_line_id(name: str) -> tuple[int, int] | None:
    """The delivery and the number of its turn in line that a name in the queue means; None for that of a task."""
    prefix, _, rest = name.partition(".")
    delivery_id, _, lined = rest.partition(".")
    is_ours = prefix == _LINE_PREFIX and delivery_id.isdecimal() and lined.isdecimal()
    return (int(delivery_id), int(lined)) if is_ours else None
