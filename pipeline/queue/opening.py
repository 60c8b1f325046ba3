"""Open the queue and its views on the server and in the layout that the settings name."""

import redis

from pipeline.clock import Clock, SystemClock
from pipeline.queue.addresses import is_cluster
from pipeline.queue.capability import Needs
from pipeline.queue.connection import LONG_PATIENCE_S, connect
from pipeline.queue.counters import Counters
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.history import History
from pipeline.queue.inspect import Inspector
from pipeline.queue.keys import Keys
from pipeline.queue.layout import StoredLayout, stored_layout
from pipeline.queue.pages import Pages
from pipeline.queue.pulse import Pulse
from pipeline.queue.request_limits import RequestLimits
from pipeline.queue.roster import Roster
from pipeline.queue.rules import Rules
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.sharded_views import ShardedInspector, ShardedPages
from pipeline.queue.shards import rules_of_shards
from pipeline.queue.standstill import Standstill
from pipeline.settings import Settings


def open_queue(settings: Settings, clock: Clock | None = None) -> FairQueue:
    """Return the fair queue; nothing is connected yet."""
    return _queue(connect(settings.effective_redis_url), settings, clock)


def open_consumer_queue(settings: Settings) -> FairQueue:
    """Return a fair queue whose calls may block for `poll_interval_seconds`.

    A claim is never repeated by itself: a repeated one would lease a second task and leave the first to be reaped.
    """
    patience_s = settings.poll_interval_seconds + 2
    return _queue(connect(settings.effective_redis_url, patience_s=patience_s, retries=0), settings, None)


def open_inspector(settings: Settings, *, is_patient: bool = False) -> Inspector:
    """Return the read-only views.

    Args:
        is_patient: wait for answers over the whole data, as `audit` gives them.
    """
    url, rules = settings.effective_redis_url, Rules.of(settings)
    client = connect(url, patience_s=LONG_PATIENCE_S) if is_patient else connect(url)
    if has_shards(settings):
        return ShardedInspector(client, rules, settings.queue_shards)
    return Inspector(client, rules)


def open_pages(settings: Settings) -> Pages:
    """Return the paged views."""
    client, rules = connect(settings.effective_redis_url), Rules.of(settings)
    return ShardedPages(client, rules, settings.queue_shards) if has_shards(settings) else Pages(client, rules)


def open_roster(settings: Settings) -> Roster:
    """Return the worker registry."""
    client = connect(settings.effective_redis_url)
    first, *others = _keys_of_shards(settings)
    needs = Needs(gpu=frozenset({"ocr"} if settings.ocr_requires_gpu else ()))
    return Roster(client, first, SystemClock(), others, needs)


def open_request_limits(settings: Settings) -> RequestLimits:
    """Return the limits on requests."""
    return RequestLimits(connect(settings.effective_redis_url, retries=0), _keys_of_shards(settings)[0])


def open_counters(settings: Settings) -> Counters:
    """Return the counts that all processes share."""
    return Counters(connect(settings.effective_redis_url, retries=0), _keys_of_shards(settings)[0])


def open_pulse(settings: Settings) -> Pulse:
    """Return what the queue is doing, in counts."""
    return Pulse(connect(settings.effective_redis_url), _keys_of_shards(settings))


def open_history(settings: Settings) -> History:
    """Return the last hour of each lane."""
    client, keys = connect(settings.effective_redis_url), _keys_of_shards(settings)[0]
    return History(client, keys, interval_ms=settings.watermark_publish_interval * 1000)


def open_standstill(settings: Settings) -> Standstill:
    """Return what notices that nothing is claimed."""
    client, keys = connect(settings.effective_redis_url), _keys_of_shards(settings)
    return Standstill(client, keys[0], Pulse(client, keys), open_roster(settings), SystemClock())


def find_layout(settings: Settings) -> StoredLayout:
    """Say which layouts the server holds data of, whichever the settings name.

    Raises: QueueUnavailable.
    """
    return stored_layout(connect(settings.effective_redis_url), Rules.of(settings))


def has_shards(settings: Settings) -> bool:
    """Say whether keys carry the number of a shard: on a Cluster they must, even when there is only one."""
    return settings.queue_shards > 1 or is_cluster(settings.effective_redis_url)


def _keys_of_shards(settings: Settings) -> list[Keys]:
    rules = Rules.of(settings)
    shards = rules_of_shards(rules, settings.queue_shards) if has_shards(settings) else [rules]
    return [Keys(shard.prefix) for shard in shards]


def _queue(client: redis.Redis, settings: Settings, clock: Clock | None) -> FairQueue:
    rules = Rules.of(settings)
    if has_shards(settings):
        return ShardedQueue(client, rules, settings.queue_shards, clock)
    return FairQueue(client, rules, clock)
