"""execute_notify: make one attempt to deliver an announcement."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import dramatiq

from models.delivery_line import DeliveryLine
from models.webhook_delivery import DeliveryRow
from pipeline import __version__, metrics, tracing
from pipeline.attempts import Attempt
from pipeline.clock import Clock
from pipeline.queue import Counters
from pipeline.receivers import shown_url
from pipeline.webhooks.sending import Sender, Sent
from pipeline.webhooks.signing import signed_headers

log = logging.getLogger("pipeline.deliveries")

_PLAIN_HEADERS = {"content-type": "application/json", "user-agent": f"fairlane/{__version__}"}


@dataclass(frozen=True, slots=True)
class NotifyWork:
    """The work of one delivery that stands in line.

    Args:
        secrets: keys that sign it, a signature each.
    """

    line: DeliveryLine
    sender: Sender
    secrets: Sequence[bytes]
    counters: Counters
    clock: Clock

    def run(self, name: str, token: int) -> None:
        """Make the attempt and record how it went; whatever the receiver does, the task in line is done.

        The retries are in the row, so that what waits for its next attempt takes no place in line.
        """
        delivery = self.line.begin(name, token)
        if delivery is None:
            log.info("nothing to deliver", extra={"delivery": name})
            return
        tracing.note("fairlane.task_id", delivery.task_id)
        tracing.note("fairlane.delivery", delivery.id)
        tracing.note("fairlane.attempt", delivery.attempts)
        sent = self._send(delivery)
        _note_answer(sent)
        self.counters.count(metrics.DELIVERY_ATTEMPTS, "taken" if sent.is_taken else "refused")
        if sent.is_taken and sent.status is not None:
            is_ours = self.line.note_taken(delivery.id, token, sent.status)
        else:
            is_ours = self.line.note_failure(delivery.id, token, sent.status, sent.error, is_final=sent.is_final)
        _report(delivery, sent, is_ours=is_ours)

    def _send(self, delivery: DeliveryRow) -> Sent:
        if not self.secrets:
            return Sent(None, "this worker knows no secret: FAIRLANE_WEBHOOK_SECRETS is empty")
        body = delivery.body.encode()
        # The wall clock: receivers compare it with theirs.
        signed = signed_headers(self.secrets, delivery.message_id, self.clock.now_ms() // 1000, body)
        return self.sender.post(delivery.url, body, {**_PLAIN_HEADERS, **signed})


def _note_answer(sent: Sent) -> None:
    if sent.status is not None:
        tracing.note("http.response.status_code", sent.status)
    if not sent.is_taken:
        tracing.fail("not_delivered" if sent.status is None else str(sent.status))


def _report(delivery: DeliveryRow, sent: Sent, *, is_ours: bool) -> None:
    fields = {
        "delivery": delivery.id,
        "announced": delivery.task_id,
        "url": shown_url(delivery.url),
        "attempt": delivery.attempts,
        "status": sent.status,
    }
    if not is_ours:
        log.warning("attempted for nothing: a newer attempt has begun", extra=fields)
    elif sent.is_taken:
        log.info("announcement delivered", extra=fields)
    else:
        log.warning("announcement not delivered: %s", sent.error, extra=fields)


def declare_execute_notify(broker: dramatiq.Broker, work: NotifyWork) -> None:
    """Make the lane `notify` known to the broker."""

    @dramatiq.actor(broker=broker, queue_name="notify")
    def execute_notify(attempts: Sequence[Attempt]) -> None:
        for attempt in attempts:
            attempt.do(work.run, attempt.claim.task_id, attempt.claim.token)
