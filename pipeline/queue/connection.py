"""Connections to Redis or Valkey, one server, a Sentinel's master or a Cluster, that give up in time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException
from redis.retry import Retry
from redis.sentinel import Sentinel

from pipeline.errors import QueueUnavailable
from pipeline.queue.addresses import cluster_address, is_cluster, is_sentinel, refused, sentinel_address

#: Seconds a call may take before it is given up: connecting and one reply, so a caller knows within 2 s that the server
#: hangs.
PATIENCE_S = 0.7
#: Seconds for calls that people make over the whole data (audit).
LONG_PATIENCE_S = 60.0
#: Times a Cluster's client looks for a node that answers when it connects.
_FIRST_TRIES = 3


def connect(url: str, *, patience_s: float = PATIENCE_S, retries: int = 1) -> redis.Redis:
    """Return a client for `url`; it connects on first use and is safe across a fork before that.

    Args:
        url: redis://, rediss://, unix://, redis+cluster:// or redis+sentinel://.
        patience_s: seconds for connecting, and for one reply.
        retries: times a call is repeated after a lost connection; every script stands being repeated.
    Raises: ConfigurationError, when the URL is not one.
    """
    options: dict[str, Any] = {
        "socket_timeout": patience_s,
        "socket_connect_timeout": patience_s,
        # A lost connection is worth a second try, a silent server is not: both tries would have to be waited out.
        "retry": Retry(
            ExponentialWithJitterBackoff(base=0.02, cap=0.2), retries, supported_errors=(redis.ConnectionError,)
        ),
        "health_check_interval": 30,
    }
    try:
        if is_cluster(url):
            return cast("redis.Redis", LateCluster(url, options))
        return _master(url, options) if is_sentinel(url) else redis.Redis.from_url(url, **options)
    except ValueError as exc:
        raise refused(str(exc)) from exc


class LateCluster:
    """A Cluster's client that connects on first use, as all others do; else it has what `redis.Redis` has.

    Nodes that are down are done without: what lies on the others is served. The servers must allow that as well
    (`cluster-require-full-coverage no`).
    """

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self._address = cluster_address(url)
        self._options = options
        self._cluster: RedisCluster | None = None
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connected(), name)

    def _connected(self) -> RedisCluster:
        with self._lock:
            if self._cluster is None:
                self._cluster = self._connect()
            return self._cluster

    def _connect(self) -> RedisCluster:
        address = self._address
        usual = self._options["retry"]
        # What the client asks first may go to a node that is down; each try after that goes to another one.
        tries = Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.2), _FIRST_TRIES)
        cluster = RedisCluster(
            startup_nodes=[ClusterNode(host, port) for host, port in address.hosts],  # type: ignore[no-untyped-call]
            require_full_coverage=False,
            username=address.username,
            password=address.password,
            **self._options | {"retry": tries},
        )
        cluster.set_retry(usual)
        # Where the key of a call stands; else the client asks a server for it before every call.
        parser: Any = cluster.commands_parser
        parser.commands["fcall"] |= {"flags": [], "first_key_pos": 3, "last_key_pos": 3, "step_count": 1}
        return cluster


def load_library(client: redis.Redis, library: bytes, key: str) -> None:
    """Make a library of functions known to the server that holds `key`; the others of a Cluster may be down."""
    where: dict[str, Any] = {}
    if isinstance(client, LateCluster):
        where = {"target_nodes": client.get_node_from_key(key)}
    client.execute_command("FUNCTION LOAD", "REPLACE", library, **where)  # type: ignore[no-untyped-call]


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """Turn whatever the client raises inside the block into `QueueUnavailable`."""
    try:
        yield
    except (redis.RedisError, RedisClusterException) as exc:
        raise QueueUnavailable(f"{what}: {exc}") from exc


def _master(url: str, options: dict[str, Any]) -> redis.Redis:
    address = sentinel_address(url)
    # Typed loosely, as redis-py leaves it untyped.
    sentinel: Any = Sentinel(address.hosts, sentinel_kwargs=options, **options)  # type: ignore[no-untyped-call]
    master: redis.Redis = sentinel.master_for(
        address.service, db=address.db, username=address.username, password=address.password
    )
    return master
