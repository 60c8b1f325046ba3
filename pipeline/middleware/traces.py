"""The spans of an attempt: how long its task waited, how it was claimed, and the work, of which the steps are parts."""

import threading

from dramatiq import Broker, MessageProxy, Middleware, Worker

from pipeline.broker import ACTOR_OF, ClaimedMessage
from pipeline.clock import Clock
from pipeline.tracing import Carried, Notes, Scope, Traces, carried_in, note


class AttemptTraces(Middleware):
    """Goes on with the trace that came with the task; a retry is a further span of it. What came without has none.

    Args:
        lease_ms: length of a lease, which tells when it was given.
    """

    def __init__(self, traces: Traces, clock: Clock, *, lease_ms: int) -> None:
        self._traces = traces
        self._clock = clock
        self._lease_ms = lease_ms
        self._here = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        self._here.scope = None
        if isinstance(message, ClaimedMessage) and (carried := carried_in(message.payload)):
            self._here.scope = self._begun(message, carried)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        scope = getattr(self._here, "scope", None)
        if isinstance(message, ClaimedMessage) and scope is not None:
            self._here.scope = None
            note("fairlane.ending", type(message.ending).__name__.lower())
            scope.close(exception)

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._traces.close()

    def _begun(self, message: ClaimedMessage, carried: Carried) -> Scope:
        claim, now_ms = message.claim, self._clock.now_ms()
        # By the server's clock, as the time at which it was put in line; ours may be behind.
        claimed_ms = min(claim.lease_ends_ms - self._lease_ms, now_ms)
        notes: Notes = {
            "fairlane.task_id": claim.task_id,
            "fairlane.mac": claim.mac.partition("@")[0],
            "fairlane.lane": claim.lane,
            "fairlane.attempt": message.attempt,
        }
        if message.attempt == 1:  # what waits for a retry has not waited since it was put in line
            self._traces.record("wait", carried.traceparent, min(carried.since_ms, claimed_ms), claimed_ms, notes)
        span = self._traces.begin(ACTOR_OF[claim.lane], carried.traceparent, "consumer", notes, claimed_ms)
        self._traces.record("claim", span.traceparent, claimed_ms, now_ms, notes)
        return Scope(span)
