"""Which layouts a server holds data of: what a changed `FAIRLANE_QUEUE_SHARDS` leaves behind."""

from dataclasses import dataclass

import redis

from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.shards import SHARDS_MAX, rules_of_shards


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """The data sets that have been begun on a server under one prefix; each has an epoch.

    Args:
        is_plain: one lies in the layout without shards.
        shards: the numbers of those that are shards.
    """

    is_plain: bool
    shards: frozenset[int]


def stored_layout(client: redis.Redis, rules: Rules) -> StoredLayout:
    """Look for every data set there can be, whatever the settings say.

    Args:
        rules: with the prefix of the plain layout.
    Raises: QueueUnavailable.
    """
    prefixes = [rules.prefix, *(shard.prefix for shard in rules_of_shards(rules, SHARDS_MAX))]
    with reaching("layout"), client.pipeline(transaction=False) as pipe:
        for prefix in prefixes:
            pipe.exists(Keys(prefix).epoch())
        plain, *shards = pipe.execute()
    return StoredLayout(bool(plain), frozenset(number for number, found in enumerate(shards) if found))
