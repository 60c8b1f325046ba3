"""How many requests one key, device or address may make, and which signed requests have been seen, on all hosts."""

from typing import NamedTuple

import redis

from pipeline.clock import Clock
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.scripts import Scripts

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
    """What became of the wish for a token, and how full the bucket is.

    Args:
        left: requests that may come now.
        full_in_ms: until it is full again.
        retry_after_ms: until it has a token for the one that was refused; 0 when it was not.
    """

    bucket: Bucket
    left: int
    full_in_ms: int
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

    def take(self, bucket: Bucket) -> Level:
        """Take one request out of a bucket, unless it is empty."""
        reply = self._scripts.call(
            "take",
            self._keys.epoch(),
            "" if self._clock is None else self._clock.now_ms(),
            f"{bucket.kind}:{bucket.name}",
            bucket.per_minute,
            bucket.size,
        )
        retry_after_ms = reply.number(2) if reply.word == "empty" else 0
        return Level(bucket, reply.number(0), reply.number(1), retry_after_ms)

    def note_nonce(self, key_id: str, nonce: str, *, ttl_ms: int) -> bool:
        """Remember a nonce for `ttl_ms`; False when it has been used before."""
        with reaching("nonce"):
            return bool(self._client.set(self._keys.nonce(key_id, nonce), 1, px=ttl_ms, nx=True))
