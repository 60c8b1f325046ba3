"""The Dramatiq broker over the fair queue: a worker claims for the slots that are free, never ahead of that.

Dramatiq's own Redis broker is not used: docs/why/broker.md says what it does on a crash and a lost reply.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import BrokerConnectionError

from pipeline.attempts import Abandon, Attempt, Bury, Complete, Defer, Discard, Follow, HandBack, Retry
from pipeline.errors import ConfigurationError, FairlaneError, LeaseLost, QueueUnavailable
from pipeline.queue import QUEUE_NAMES, Claim, FairQueue, Lane
from pipeline.slots import Slots

log = logging.getLogger(__name__)

#: Seconds between two questions of Dramatiq while this process stops.
_STOPPING_PAUSE_S = 0.1

#: Lanes whose tasks are so brief that most of their cost is asking: a slot does several, for which everything is asked
#: together. At most so many, estimated to keep it busy for so many ms: a newcomer waits no longer than that for a slot.
_TOGETHER: Mapping[Lane, tuple[int, int]] = {"text": (32, 40)}

#: The code of what a worker that stops has not begun.
_STOPPING = "stopping"

#: The actor that does a lane's work.
ACTOR_OF: Mapping[Lane, str] = {"ocr": "execute_ocr", "text": "execute_text", "notify": "execute_notify"}


class ClaimedMessage(MessageProxy):
    """Dramatiq's envelope around what one slot does: usually one task, several brief ones where a lane has them.

    Args:
        claims: leases of one lane, at least one.
        queue_name: of the consumer that took them, to which Dramatiq says how it went; the lane's own when not given.
    """

    def __init__(self, claims: Sequence[Claim], queue_name: str = "") -> None:
        self.lane = claims[0].lane
        #: Each of which the queue will be told an ending.
        self.attempts = [Attempt(claim) for claim in claims]
        #: Those that have begun, which are the work: the actor's only argument.
        self.begun: list[Attempt] = []
        super().__init__(
            Message(
                queue_name=queue_name or self.lane,
                actor_name=ACTOR_OF[self.lane],
                args=(self.begun,),
                kwargs={},
                options={},
                message_id=claims[0].task_id,
            )
        )


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

    def claims(self, lane: Lane) -> list[list[Claim]]:
        """Claim what the free slots can do, those of one slot together; nothing after at most `poll_s` seconds without
        a slot or a task.
        """
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
        for of_slot in claims:
            self.slots.fill(of_slot)
        return claims

    def _claim(self, lane: Lane, room: int) -> list[list[Claim]]:
        # A turn for each: a batch would trade fairness among devices within a second for a cheaper call.
        if lane in _TOGETHER:
            most, slot_ms = _TOGETHER[lane]
            claims = self._queue.claim(lane, limit=most, per_turn=1, slot_ms=slot_ms)
            return [claims] if claims else []
        return [[claim] for claim in self._queue.claim(lane, limit=room, per_turn=1)]

    def rest(self) -> None:
        """Wait a little before the queue is asked again."""
        self.slots.rest(self._poll_s)

    def settle(self, message: ClaimedMessage) -> None:
        """Tell the queue how claimed tasks ended and free their slot.

        Raises: BrokerConnectionError, when the queue does not answer; Dramatiq then calls again until it does.
        """
        untold = [attempt for attempt in message.attempts if not attempt.is_told]
        done = [attempt for attempt in untold if isinstance(attempt.ending, Complete)]
        tellings: list[tuple[list[Attempt], Callable[[], None]]] = [(done, partial(self._tell_done, done))]
        tellings += [([one], partial(one.run, self._tell, one)) for one in untold if one not in done]
        unheard = None
        for attempts, tell in tellings:
            try:
                tell()
            except QueueUnavailable as exc:  # the others may be heard by a shard that answers
                unheard = exc
            except Exception:
                # Dramatiq would drop the message, and the slot be full for ever; so the leases run out.
                log.exception("a bug kept the queue from being told")
                self.slots.free([attempt.claim for attempt in attempts])
        if unheard:
            raise BrokerConnectionError(str(unheard)) from unheard  # type: ignore[no-untyped-call]

    def _tell_done(self, attempts: Sequence[Attempt]) -> None:
        if not attempts:
            return
        answers = self._queue.complete_each(
            [(attempt.claim.task_id, attempt.claim.token, attempt.cost_ms) for attempt in attempts]
        )
        for attempt, lost in zip(attempts, answers, strict=True):
            attempt.run(_note_told, attempt, lost)
        self.slots.free([attempt.claim for attempt in attempts])

    def _tell(self, attempt: Attempt) -> None:
        lost = None
        try:
            self._tell_ending(attempt)
        except LeaseLost as exc:
            lost = exc
        _note_told(attempt, lost)
        self.slots.free([attempt.claim])

    def _tell_ending(self, attempt: Attempt) -> None:
        task_id, token, cost_ms = attempt.claim.task_id, attempt.claim.token, attempt.cost_ms
        match attempt.ending:
            case Retry(delay_ms, _, is_loss):
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
            case Complete() | Abandon():
                pass


class LaneConsumer(Consumer):
    """One lane as Dramatiq sees it: an endless stream of messages, or None where there was none for a while."""

    def __init__(self, broker: FairBroker, queue_name: str) -> None:
        self._broker = broker
        self._queue_name = queue_name
        self._lane = lane_named(queue_name)
        self._is_cut_off = False
        #: Claimed by one call: each has its slot, so Dramatiq takes them at once.
        self._claimed: deque[ClaimedMessage] = deque()

    def __next__(self) -> MessageProxy | None:
        if not self._claimed:
            self._claimed.extend(ClaimedMessage(claims, self._queue_name) for claims in self._claims())
        return self._claimed.popleft() if self._claimed else None

    def close(self) -> None:
        while self._claimed:
            self.requeue([self._claimed.popleft()])

    def _claims(self) -> list[list[Claim]]:
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
            for attempt in claimed.attempts:
                attempt.ending = HandBack(_STOPPING)
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


def _note_told(attempt: Attempt, lost: LeaseLost | None) -> None:
    attempt.is_told = True
    if lost:
        log.warning("the lease was lost before the end was told: %s", lost)
        attempt.is_lease_lost = True


def _claimed(message: MessageProxy) -> ClaimedMessage:
    if not isinstance(message, ClaimedMessage):
        raise TypeError(f"not a message of this broker: {message!r}")
    return message
