"""What is asked and said about deliveries over HTTP."""

import dataclasses
from typing import Any, Literal

import falcon
from pydantic import Field

from models.deliveries import ChosenDeliveries
from models.webhook_delivery import DeliveryRow
from pipeline.receivers import shown_url
from pipeline.submission import Rules
from web.answers import Answer
from web.choosing import Choice, RowFilter
from web.filters import filter_by_query
from web.operations import Parameter

FILTERS = (
    Parameter("state", "only those that stand so", {"enum": ["pending", "delivered", "failed"]}),
    Parameter("task_id", "only those of this task"),
    Parameter("mac", "only of this device"),
)


class DeliveryFilter(RowFilter):
    """Which deliveries are meant: those to which all that is given applies."""

    state: Literal["pending", "delivered", "failed"] | None = None

    def chosen(self) -> ChosenDeliveries:
        return ChosenDeliveries(**self.conditions())


class DeliveryReplayRequest(Choice):
    """Which deliveries to make again: exactly one of ids, filter and all; a filter without a state, and all, mean those
    that failed."""

    filter: DeliveryFilter | None = None

    def chosen(self) -> ChosenDeliveries:
        return ChosenDeliveries(**self.conditions())


class DeliveryAnswer(Answer):
    """An announcement to one receiver; times in epoch ms."""

    id: int
    message_id: str = Field(description="the webhook-id, the same at each attempt")
    task_id: str
    effect: str = Field(description="webhook: to the receiver in the settings; callback: to that of the request")
    type: str
    site: str
    mac: str
    lane: str
    url: str = Field(description="without what follows the question mark")
    state: str = Field(description="pending, delivered or failed")
    attempts: int
    created_ms: int
    due_ms: int = Field(description="when the next attempt may be made, while it is pending")
    last_attempt_ms: int | None
    ended_ms: int | None
    last_status: int | None = Field(description="HTTP status of the last reply; null when there was none")
    error: str = Field(description="why the last attempt failed")


class FullDeliveryAnswer(DeliveryAnswer):
    """The same with what is announced."""

    body: str


class DeliveriesAnswer(Answer):
    """One page, newest first."""

    deliveries: list[DeliveryAnswer]
    next: str | None = Field(description="where the next page is; null on the last")


class DeliveredAgainAnswer(Answer):
    """How many deliveries are now made again; or would be, after a dry run."""

    deliveries: int
    dry_run: bool


def fields_of(delivery: DeliveryRow) -> dict[str, Any]:
    """What is said of a delivery."""
    told = {"message_id": delivery.message_id, "url": shown_url(delivery.url)}
    return {**dataclasses.asdict(delivery), **told}


def chosen_by_query(req: falcon.Request, rules: Rules) -> ChosenDeliveries:
    """The deliveries that the query parameters of `FILTERS` mean.

    Raises: HttpProblem 400 naming every parameter that is wrong.
    """
    return filter_by_query(req, FILTERS, DeliveryFilter, rules).chosen()
