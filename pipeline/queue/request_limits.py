"""How many requests one key, device or address may make, and which signed requests have been seen, on all hosts."""

from collections.abc import Sequence
from typing import NamedTuple

import redis

from pipeline.clock import Clock
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.scripts import Reply, Scripts

#: Tokens for this many seconds fit into a bucket: so long may a burst be.
_BURST_S = 10


class Bucket(NamedTuple):
    """A limit.

    Args:
        kind: key, device or address.
        name: whose; without spaces.
        per_minute: requests a minute in the long run, 1 or more.
    """

    kind: str
    name: str
    per_minute: int

    @property
    def size(self) -> int:
        """Requests that may come at once."""
        return max(1, self.per_minute * _BURST_S // 60)


class Level(NamedTuple):
    """How full a bucket is.

    Args:
        left: requests that may come now.
        full_in_ms: until it is full again.
    """

    bucket: Bucket
    left: int
    full_in_ms: int


class Taken(NamedTuple):
    """The answer to a request for a token of each of some buckets.

    Args:
        levels: of all of them, in their order.
        empty: one that was empty, so that nothing was taken out of any; None when all is well.
        retry_after_ms: when it has a token again; 0 when all is well.
    """

    levels: tuple[Level, ...] = ()
    empty: Bucket | None = None
    retry_after_ms: int = 0


class RequestLimits:
    """Buckets and nonces; every method raises `QueueUnavailable` when the server does not answer in time.

    Args:
        keys: of the queue, of its shard 0 when it has shards.
        clock: None lets the server tell the time, as in production.
    """

    def __init__(self, client: redis.Redis, keys: Keys, clock: Clock | None = None) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._keys = keys
        self._clock = clock

    def take(self, buckets: Sequence[Bucket]) -> Taken:
        """Take one request out of each bucket, or out of none when one of them is empty."""
        if not buckets:
            return Taken()
        reply = self._scripts.call(
            "take",
            self._keys.epoch(),
            "" if self._clock is None else self._clock.now_ms(),
            " ".join(f"{bucket.kind}:{bucket.name}" for bucket in buckets),
            " ".join(str(bucket.per_minute) for bucket in buckets),
            " ".join(str(bucket.size) for bucket in buckets),
        )
        levels = tuple(_level(bucket, reply, 2 * index) for index, bucket in enumerate(buckets))
        if reply.word == "taken":
            return Taken(levels)
        number, retry_after_ms = reply.number(2 * len(buckets)), reply.number(2 * len(buckets) + 1)
        return Taken(levels, buckets[number - 1], max(1, retry_after_ms))

    def note_nonce(self, key_id: str, nonce: str, *, ttl_ms: int) -> bool:
        """Remember a nonce for `ttl_ms`; False when it has been used before."""
        with reaching("nonce"):
            return bool(self._client.set(self._keys.nonce(key_id, nonce), 1, px=ttl_ms, nx=True))


def _level(bucket: Bucket, reply: Reply, at: int) -> Level:
    return Level(bucket, reply.number(at), reply.number(at + 1))
