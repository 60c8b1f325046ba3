"""Which shard a device lives in, and how a token tells it: pure arithmetic, the same in every process.

A shard is a whole fair queue under a prefix of its own, `{sensitive:3}:`; what stands in the braces decides the slot on
a Cluster, so everything a script touches is in one slot.
"""

import zlib
from dataclasses import replace

from pipeline.errors import LeaseLost
from pipeline.queue.rules import Rules

#: The most shards there can be; `lua/lib/lane.lua` has the same number.
SHARDS_MAX = 64


def rules_of_shards(rules: Rules, count: int) -> list[Rules]:
    """The rules of each shard: the same but for the prefix."""
    return [replace(rules, prefix=f"{{{rules.prefix.rstrip(':')}:{shard}}}:") for shard in range(count)]


def home_of(mac: str, count: int) -> int:
    """The shard a device lives in, the same for ever while the number of shards stays."""
    return zlib.crc32(mac.encode()) % count


def shard_of_token(token: int, count: int) -> int:
    """The shard that gave this token.

    Raises: LeaseLost, when there is no such shard (any more).
    """
    shard = token % SHARDS_MAX
    if shard >= count:
        raise LeaseLost(f"the lease {token} is of a shard that does not exist")
    return shard
