"""Which shard a device lives in, and how a token tells it, the same in every process; how to look for what has neither.

A shard is a whole fair queue under a prefix of its own, `{sensitive:3}:`; what stands in the braces decides the slot on
a Cluster, so everything a script touches is in one slot.
"""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from pipeline.errors import LeaseLost, QueueUnavailable
from pipeline.queue.rules import Rules

_Shard = TypeVar("_Shard")
_Found = TypeVar("_Found")

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


def in_any(shards: Iterable[_Shard], ask: Callable[[_Shard], _Found | None]) -> _Found | None:
    """The first answer that is not None; shards that do not answer are passed over, and may have known more.

    Raises: QueueUnavailable, when one did not answer and the others had nothing.
    """
    failure = None
    for shard in shards:
        try:
            if (found := ask(shard)) is not None:
                return found
        except QueueUnavailable as exc:
            failure = exc
    if failure:
        raise failure
    return None
