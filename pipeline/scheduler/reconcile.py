"""Duty: compare the ledger with the queue, at once after the queue lost its data, else every now and then."""

import logging

from models.devices import Devices
from models.ledger import Ledger
from pipeline import metrics
from pipeline.devices import restore_rules
from pipeline.queue import Counters, FairQueue, Inspector, Roster
from pipeline.recovery import Recovered, recover

log = logging.getLogger(__name__)

#: A submission is committed and then put in line; one younger than this may be in between, ms.
_UNDER_WAY_MS = 5_000


def rebuild_after_loss(
    queue: FairQueue, inspector: Inspector, roster: Roster, ledger: Ledger, devices: Devices
) -> None:
    """Put back what the database holds, rules of devices first, when the queue has no epoch (FLUSHALL, empty start).

    Each shard has an epoch of its own: those that answer are rebuilt, whatever the others do.
    """
    lost = roster.without_epoch()
    if not lost:
        return
    restore_rules(queue, devices, shards=lost)
    found = recover(queue, inspector, ledger, shards=lost)
    roster.begin_epoch(lost)
    _report("the queue was empty and has been rebuilt", found)


def reconcile(queue: FairQueue, inspector: Inspector, ledger: Ledger, counters: Counters) -> None:
    """Mend what a crash between two writes has left apart, and count it."""
    found = recover(queue, inspector, ledger, older_than_ms=inspector.now_ms() - _UNDER_WAY_MS)
    counters.count(metrics.LEDGER_REPAIRS, "enqueued", by=found.enqueued)
    counters.count(metrics.LEDGER_REPAIRS, "closed", by=found.closed)
    _report("ledger and queue are together again", found)


def _report(message: str, found: Recovered) -> None:
    if found.enqueued or found.closed:
        log.warning(message, extra={"enqueued": found.enqueued, "closed": found.closed})
