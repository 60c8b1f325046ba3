"""The spans of an attempt: how long its task waited, how it was claimed, and the work, of which the steps are parts."""

from dramatiq import Broker, MessageProxy, Middleware, Worker

from pipeline.attempts import Attempt
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

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        if isinstance(message, ClaimedMessage):
            for attempt in message.begun:
                if carried := carried_in(attempt.payload):
                    attempt.scope = attempt.run(self._begun, attempt, carried)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: object = None, exception: BaseException | None = None
    ) -> None:
        if isinstance(message, ClaimedMessage):
            for attempt in message.begun:
                if attempt.scope is not None:
                    attempt.run(_end, attempt, attempt.scope)

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._traces.close()

    def _begun(self, attempt: Attempt, carried: Carried) -> Scope:
        claim, now_ms = attempt.claim, self._clock.now_ms()
        # By the server's clock, as the time at which it was put in line; ours may be behind.
        claimed_ms = min(claim.lease_ends_ms - self._lease_ms, now_ms)
        notes: Notes = {
            "fairlane.task_id": claim.task_id,
            "fairlane.mac": claim.mac.partition("@")[0],
            "fairlane.lane": claim.lane,
            "fairlane.attempt": attempt.number,
        }
        if attempt.number == 1:  # what waits for a retry has not waited since it was put in line
            self._traces.record("wait", carried.traceparent, min(carried.since_ms, claimed_ms), claimed_ms, notes)
        span = self._traces.begin(ACTOR_OF[claim.lane], carried.traceparent, "consumer", notes, claimed_ms)
        self._traces.record("claim", span.traceparent, claimed_ms, now_ms, notes)
        return Scope(span)


def _end(attempt: Attempt, scope: Scope) -> None:
    note("fairlane.ending", type(attempt.ending).__name__.lower())
    scope.close(attempt.error)
