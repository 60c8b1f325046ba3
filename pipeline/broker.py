"""The Dramatiq broker over the fair queue: a worker claims for the slots that are free, never ahead of that.

Dramatiq's own Redis broker is not used: docs/why/broker.md says what it does on a crash and a lost reply.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import BrokerConnectionError

from pipeline.errors import ConfigurationError, FairlaneError, LeaseLost, QueueUnavailable
from pipeline.queue import QUEUE_NAMES, Claim, FairQueue, Lane, Started, TaskState
from pipeline.slots import Slots
from pipeline.tracing import NOTHING_CARRIED

log = logging.getLogger(__name__)

#: Seconds between two questions of Dramatiq while this process stops.
_STOPPING_PAUSE_S = 0.1

#: The actor that does a lane's work.
ACTOR_OF: Mapping[Lane, str] = {"ocr": "execute_ocr", "text": "execute_text", "notify": "execute_notify"}


@dataclass(frozen=True, slots=True)
class Complete:
    """The work is done and stored."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failure that may pass: again after `delay_ms`.

    Args:
        is_loss: it cost an engine, as poison does each time.
    """

    delay_ms: int
    is_loss: bool = False


@dataclass(frozen=True, slots=True)
class Defer:
    """Nobody can do this now: later, without an attempt."""

    code: str


@dataclass(frozen=True, slots=True)
class HandBack:
    """This worker cannot do it now: to the head of the line, for another one."""


@dataclass(frozen=True, slots=True)
class Bury:
    """It will never do (`failed`), or nothing is left to try (`dead`)."""

    state: TaskState
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Follow:
    """The ledger had ended the task already, so."""

    state: TaskState
    code: str


@dataclass(frozen=True, slots=True)
class Discard:
    """The ledger knows no such task: the submission was withdrawn after it was put in line."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """The lease is somebody else's: say nothing."""


Ending = Complete | Retry | Defer | HandBack | Bury | Follow | Discard | Abandon


class ClaimedMessage(MessageProxy):
    """Dramatiq's envelope around a claim; the outcome middleware writes how it ends.

    Args:
        claim: the lease that stands behind the message.
        queue_name: of the consumer that took it, to which Dramatiq says how it went; the lane's own when not given.
    """

    def __init__(self, claim: Claim, queue_name: str = "") -> None:
        super().__init__(
            Message(
                queue_name=queue_name or claim.lane,
                actor_name=ACTOR_OF[claim.lane],
                args=(claim.task_id, claim.token),
                kwargs={},
                options={},
                message_id=claim.task_id,
            )
        )
        self.claim = claim
        #: Unless somebody decides, the lease runs out and the delivery counts: a bug here must not loop for ever.
        self.ending: Ending = Abandon()
        #: Worker-milliseconds used so far, written by the measure middleware.
        self.cost_ms = 0
        #: Workers and engines that the task has cost before this attempt.
        self.losses = 0
        #: What was put in line with the task; known once the attempt has begun.
        self.payload = NOTHING_CARRIED
        #: Telling the queue has shown that the lease is another's by now.
        self.is_lease_lost = False

    def begin(self, started: Started) -> None:
        """Note what is known once the attempt has begun; its number is an argument of the actor."""
        self._message.kwargs["attempt"] = started.attempt
        self.losses = started.losses
        self.payload = started.payload

    @property
    def attempt(self) -> int:
        """The number of the attempt, from 1; 0 before it has begun."""
        return int(self._message.kwargs.get("attempt", 0))


class FairBroker(Broker):
    """Hands claimed tasks to Dramatiq's workers and tells the queue how they ended.

    Args:
        queue: a queue whose calls may block for `poll_s`.
        poll_s: longest wait for a wake-up, seconds.
    """

    def __init__(self, queue: FairQueue, *, poll_s: float, middleware: list[Middleware]) -> None:
        super().__init__(middleware=middleware)
        self._queue = queue
        self._poll_s = poll_s
        self._stopping = threading.Event()  # never set: a pause
        #: What this process may claim; the middleware opens, holds and closes it.
        self.slots = Slots()

    # What Dramatiq asks of a broker.

    def declare_queue(self, queue_name: str) -> None:
        """Make a queue known to the worker, which then opens a consumer for its lane.

        Raises: ConfigurationError, for a name behind which there is no lane.
        """
        lane_named(queue_name)
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> "LaneConsumer":
        return LaneConsumer(self, queue_name)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        raise ConfigurationError(
            f"{message.actor_name}.send(): tasks enter through pipeline.intake, which knows the limits"
        )

    # What the consumer does.

    def claims(self, lane: Lane) -> list[Claim]:
        """Claim as many tasks as slots are free; none after at most `poll_s` seconds without a slot or a task."""
        room = self.slots.room(lane, wait_s=self._poll_s)
        if not room:
            if self.slots.is_closed:
                # Dramatiq asks on, as fast as it is answered, until what runs has ended.
                self._stopping.wait(_STOPPING_PAUSE_S)
            return []
        claims = self._claim(lane, room)
        if not claims:
            self._queue.wait_for_work(lane, timeout_s=self._poll_s)
            room = self.slots.room(lane)
            claims = self._claim(lane, room) if room else []
        if claims:
            self.slots.fill(claims)
        return claims

    def _claim(self, lane: Lane, room: int) -> list[Claim]:
        # A turn for each: a batch would trade fairness among devices within a second for a cheaper call.
        return self._queue.claim(lane, limit=room, per_turn=1)

    def rest(self) -> None:
        """Wait a little before the queue is asked again."""
        self.slots.rest(self._poll_s)

    def settle(self, message: ClaimedMessage) -> None:
        """Tell the queue how a claimed task ended and free its slot.

        Raises: BrokerConnectionError, when the queue does not answer; Dramatiq then calls again until it does.
        """
        try:
            self._tell(message)
        except LeaseLost as exc:
            log.warning("the lease was lost before the end was told: %s", exc)
            message.is_lease_lost = True
        except QueueUnavailable as exc:
            raise BrokerConnectionError(str(exc)) from exc  # type: ignore[no-untyped-call]
        self.slots.free(message.claim)

    def _tell(self, message: ClaimedMessage) -> None:
        task_id, token, cost_ms = message.claim.task_id, message.claim.token, message.cost_ms
        match message.ending:
            case Complete():
                self._queue.complete(task_id, token, cost_ms=cost_ms)
            case Retry(delay_ms, is_loss):
                self._queue.retry(task_id, token, cost_ms=cost_ms, delay_ms=delay_ms, is_loss=is_loss)
            case Defer(code):
                self._queue.defer(task_id, token, code=code)
            case HandBack():
                self._queue.hand_back(task_id, token, cost_ms=cost_ms)
            case Bury(state, code, text):
                self._queue.bury(task_id, token, ending=state, code=code, message=text, cost_ms=cost_ms)
            case Follow(state, code):
                self._queue.amend(task_id, token, ending=state, code=code)
            case Discard():
                self._queue.forget(task_id, token)
            case Abandon():
                pass


class LaneConsumer(Consumer):
    """One lane as Dramatiq sees it: an endless stream of messages, or None where there was none for a while."""

    def __init__(self, broker: FairBroker, queue_name: str) -> None:
        self._broker = broker
        self._queue_name = queue_name
        self._lane = lane_named(queue_name)
        self._is_cut_off = False
        #: Claimed with others by one call: each has its slot, so Dramatiq takes them at once.
        self._claimed: deque[ClaimedMessage] = deque()

    def __next__(self) -> MessageProxy | None:
        if not self._claimed:
            self._claimed.extend(ClaimedMessage(claim, self._queue_name) for claim in self._claims())
        return self._claimed.popleft() if self._claimed else None

    def close(self) -> None:
        while self._claimed:
            self.requeue([self._claimed.popleft()])

    def _claims(self) -> list[Claim]:
        # An exception here would make Dramatiq drop the consumer for 3 s; an outage is waited out instead.
        try:
            claims = self._broker.claims(self._lane)
        except FairlaneError as exc:
            if not self._is_cut_off:
                log.warning("cannot claim, will go on trying: %s", exc, extra={"lane": self._lane})
            self._is_cut_off = True
            self._broker.rest()
            return []
        if self._is_cut_off:
            log.info("claiming again", extra={"lane": self._lane})
            self._is_cut_off = False
        return claims

    def ack(self, message: MessageProxy) -> None:
        self._broker.settle(_claimed(message))

    def nack(self, message: MessageProxy) -> None:
        self._broker.settle(_claimed(message))

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        for message in messages:
            claimed = _claimed(message)
            claimed.ending = HandBack()
            self._broker.settle(claimed)


def lane_named(queue_name: str) -> Lane:
    """Return the lane behind the name of a queue.

    Raises: ConfigurationError.
    """
    if lane := QUEUE_NAMES.get(queue_name):
        return lane
    raise ConfigurationError(f"no lane is called {queue_name!r}; there are: {', '.join(QUEUE_NAMES)}")


def fair_broker(broker: Broker) -> FairBroker:
    """Return the broker as what it is: Dramatiq's hooks know it by its base class only."""
    if not isinstance(broker, FairBroker):
        raise TypeError(f"fairlane's middleware needs fairlane's broker, not {type(broker).__name__}")
    return broker


def _claimed(message: MessageProxy) -> ClaimedMessage:
    if not isinstance(message, ClaimedMessage):
        raise TypeError(f"not a message of this broker: {message!r}")
    return message
