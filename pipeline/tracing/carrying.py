"""What travels through the queue with a task, so that whoever claims it goes on with its trace."""

import json
from typing import NamedTuple

#: The payload of a task without a trace.
NOTHING_CARRIED = b"{}"


class Carried(NamedTuple):
    """Where a claimed task comes from.

    Args:
        traceparent: of the span that put it in line.
        since_ms: when that was, epoch ms.
    """

    traceparent: str
    since_ms: int


def payload_of(traceparent: str | None, since_ms: int) -> bytes:
    """The payload of a task that is put in line."""
    if traceparent is None:
        return NOTHING_CARRIED
    return json.dumps({"traceparent": traceparent, "since_ms": since_ms}, separators=(",", ":")).encode()


def carried_in(payload: bytes) -> Carried | None:
    """What `payload_of` put in; None where that is nothing, or something else."""
    if payload == NOTHING_CARRIED:
        return None
    try:
        carried = json.loads(payload)
    except ValueError:
        return None
    match carried:
        case {"traceparent": str(traceparent), "since_ms": int(since_ms)}:
            return Carried(traceparent, since_ms)
    return None
