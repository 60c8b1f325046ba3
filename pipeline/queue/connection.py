"""Connections to Redis or Valkey that give up in time."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from pipeline.errors import ConfigurationError, QueueUnavailable

#: Seconds a call may take before it is given up: connecting and one reply, so a caller knows within 2 s that the server
#: hangs.
PATIENCE_S = 0.7
#: Seconds for calls that people make over the whole data (audit).
LONG_PATIENCE_S = 60.0


def connect(url: str, *, patience_s: float = PATIENCE_S, retries: int = 1) -> redis.Redis:
    """Return a client for `url`; it connects on first use and is safe across a fork.

    Args:
        patience_s: seconds for connecting, and for one reply.
        retries: times a call is repeated after a lost connection; every script stands being repeated.
    Raises: ConfigurationError, when the URL is not one.
    """
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=patience_s,
            socket_connect_timeout=patience_s,
            # A lost connection is worth a second try, a silent server is not: both tries would have to be waited out.
            retry=Retry(
                ExponentialWithJitterBackoff(base=0.02, cap=0.2), retries, supported_errors=(redis.ConnectionError,)
            ),
            health_check_interval=30,
        )
    except ValueError as exc:
        raise ConfigurationError(f"FAIRLANE_REDIS_URL: {exc}") from exc


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """Turn whatever the client raises inside the block into `QueueUnavailable`."""
    try:
        yield
    except redis.RedisError as exc:
        raise QueueUnavailable(f"{what}: {exc}") from exc
