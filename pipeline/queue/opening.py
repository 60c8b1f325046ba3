"""Open the queue and its views on the server that the settings name."""

from pipeline.clock import Clock, SystemClock
from pipeline.queue.connection import LONG_PATIENCE_S, connect
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.inspect import Inspector
from pipeline.queue.keys import Keys
from pipeline.queue.pages import Pages
from pipeline.queue.roster import Roster
from pipeline.queue.rules import Rules
from pipeline.settings import Settings


def open_queue(settings: Settings, clock: Clock | None = None) -> FairQueue:
    """Return the fair queue; nothing is connected yet."""
    return FairQueue(connect(settings.effective_redis_url), Rules.of(settings), clock)


def open_consumer_queue(settings: Settings) -> FairQueue:
    """Return a fair queue whose calls may block for `poll_interval_seconds`.

    A claim is never repeated by itself: a repeated one would lease a second task and leave the first to be reaped.
    """
    patience_s = settings.poll_interval_seconds + 2
    return FairQueue(connect(settings.effective_redis_url, patience_s=patience_s, retries=0), Rules.of(settings))


def open_inspector(settings: Settings, *, is_patient: bool = False) -> Inspector:
    """Return the read-only views.

    Args:
        is_patient: wait for answers over the whole data, as `audit` gives them.
    """
    url = settings.effective_redis_url
    client = connect(url, patience_s=LONG_PATIENCE_S) if is_patient else connect(url)
    return Inspector(client, Rules.of(settings))


def open_pages(settings: Settings) -> Pages:
    """Return the paged views."""
    return Pages(connect(settings.effective_redis_url), Rules.of(settings))


def open_roster(settings: Settings) -> Roster:
    """Return the worker registry."""
    return Roster(connect(settings.effective_redis_url), Keys(settings.key_prefix), SystemClock())
