"""A Valkey of one's own that keeps small values as docs/howto/redis.md wants it."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis

from tests.support.own_servers import started_valkey

#: Seconds that a reply may take of a server which shares its core with everybody else.
_PATIENCE_S = 60


@contextmanager
def compact_server() -> Iterator[tuple[str, redis.Redis]]:
    """Run it for the length of the block.

    Yields: its URL and a client.
    """
    with started_valkey() as server, redis.Redis.from_url(server.url, socket_timeout=_PATIENCE_S) as client:
        for kind in ("hash", "zset"):
            client.config_set(f"{kind}-max-listpack-value", 128)
        yield server.url, client
