"""What a URL of several servers names: `redis+cluster://host:port,…` and `redis+sentinel://host:port,…/service/db`."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pipeline.errors import ConfigurationError

#: Ports of a server and of a Sentinel when the URL names none. Source: their documentation.
_SERVER_PORT, _SENTINEL_PORT = 6379, 26379


@dataclass(frozen=True, slots=True)
class Address:
    """Where to ask first, and for what.

    Args:
        hosts: nodes of a cluster, or Sentinels; one that answers is enough.
        service: the name under which the Sentinels know the master; empty for a cluster.
        username: of the servers, with `password`; Sentinels are asked without.
    """

    hosts: tuple[tuple[str, int], ...]
    username: str | None = None
    password: str | None = None
    service: str = ""
    db: int = 0


def is_cluster(url: str) -> bool:
    return url.startswith("redis+cluster://")


def is_sentinel(url: str) -> bool:
    return url.startswith("redis+sentinel://")


def cluster_address(url: str) -> Address:
    """Raises: ConfigurationError, also for a path: a cluster has one database only."""
    path = urlsplit(url).path.strip("/")
    if path:
        raise refused(f"a cluster has no database {path!r} to choose")
    return Address(_hosts(url, _SERVER_PORT), *_login(url))


def sentinel_address(url: str) -> Address:
    """Raises: ConfigurationError, when the service is missing or the database is no number."""
    service, _, db = urlsplit(url).path.strip("/").partition("/")
    if not service or not (db or "0").isdecimal():
        raise refused("must be redis+sentinel://host:port[,host:port]/service_name[/db]")
    return Address(_hosts(url, _SENTINEL_PORT), *_login(url), service=service, db=int(db or 0))


def refused(why: str) -> ConfigurationError:
    return ConfigurationError(f"FAIRLANE_REDIS_URL: {why}")


def _hosts(url: str, usual_port: int) -> tuple[tuple[str, int], ...]:
    hosts = []
    for place in urlsplit(url).netloc.rpartition("@")[2].split(","):
        # An IPv6 address is in brackets, since it has colons itself.
        host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
        host, port = (host, port) if colon else (place, str(usual_port))
        if not host.strip("[]") or not port.isdecimal() or not 0 < int(port) < 65536:
            raise refused(f"{place!r} is no host:port")
        hosts.append((host.strip("[]"), int(port)))
    return tuple(hosts)


def _login(url: str) -> tuple[str | None, str | None]:
    username, _, password = urlsplit(url).netloc.rpartition("@")[0].partition(":")
    return unquote(username) or None, unquote(password) or None
