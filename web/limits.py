"""Limits on requests, per key, device and address, and the headers that tell of them.

RateLimit and RateLimit-Policy are those of draft-ietf-httpapi-ratelimit-headers-10.
"""

import ipaddress
import logging
import math

import falcon

from models.sites import line_of
from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable, RateLimited
from pipeline.network import networks_in
from pipeline.queue import Bucket, Level, RequestLimits
from pipeline.settings import Settings

_log = logging.getLogger(__name__)

#: How long Redis is not asked again after it did not answer, ms.
_SILENCE_BELIEVED_MS = 1_000
#: Where the environ keeps what was counted, however often the server hands the request in.
_LEVELS = "fairlane.rate_levels"
#: Bits of an IPv6 address that tell one subscriber from another; the rest is theirs to choose.
_SUBSCRIBER_BITS = 64


class RequestGate:
    """Counts requests; a limit of 0 is none. When Redis does not answer, nobody is refused for that, and it is asked
    again only after a second, so that nobody waits for it either."""

    def __init__(self, limits: RequestLimits, clock: Clock, settings: Settings) -> None:
        self._limits = limits
        self._clock = clock
        self._silent_until_ms = 0
        self._per_key = settings.rate_per_key
        self._per_device = settings.rate_per_device
        self._per_address = settings.rate_per_address
        self._proxies = networks_in(settings.trusted_proxies)

    def count_address(self, req: falcon.Request) -> None:
        """Count a request of an address, whether it has a key or not.

        Raises: RateLimited.
        """
        self._take(req, Bucket("address", self.address_of(req), self._per_address))

    def count_key(self, req: falcon.Request, key_id: str) -> None:
        """Count a request that came with a good key.

        Raises: RateLimited.
        """
        self._take(req, Bucket("key", key_id, self._per_key))

    def count_device(self, req: falcon.Request, site: str, mac: str) -> None:
        """Count a request for a device.

        Raises: RateLimited.
        """
        self._take(req, Bucket("device", line_of(site, mac), self._per_device))

    def address_of(self, req: falcon.Request) -> str:
        """Where the request comes from: the last address in X-Forwarded-For that is not a trusted proxy's, and nothing
        of that header unless a trusted proxy has brought it."""
        address = req.remote_addr
        hops = [hop.strip() for hop in (req.get_header("X-Forwarded-For") or "").split(",")]
        while hops and self._is_proxy(address):
            before, hop = address, hops.pop()
            address = hop if _parsed(hop) else before
            if address == before:
                break
        return _subscriber(address)

    def _is_proxy(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self._proxies)

    def _take(self, req: falcon.Request, bucket: Bucket) -> None:
        now_ms = self._clock.monotonic_ms()
        if not bucket.per_minute or now_ms < self._silent_until_ms:
            return
        try:
            level = self._limits.take(bucket)
        except QueueUnavailable as exc:
            self._silent_until_ms = now_ms + _SILENCE_BELIEVED_MS
            _log.warning("requests are not counted", extra={"reason": str(exc)})
            return
        req.env.setdefault(_LEVELS, {})[bucket.kind] = level
        if level.retry_after_ms:
            message = f"too many requests of {bucket.kind} {bucket.name}"
            raise RateLimited(message, retry_after_ms=max(1_000, level.retry_after_ms))


def tell_limits(req: falcon.Request, resp: falcon.Response) -> None:
    """Put what was counted into the headers of the answer."""
    levels: dict[str, Level] = req.env.get(_LEVELS, {})
    if not levels:
        return
    policies, states = [], []
    for kind, level in levels.items():
        window_s = max(1, math.ceil(level.bucket.size * 60 / level.bucket.per_minute))
        policies.append(f'"{kind}";q={level.bucket.size};w={window_s}')
        states.append(f'"{kind}";r={level.left};t={math.ceil(level.full_in_ms / 1000)}')
    resp.set_header("RateLimit-Policy", ", ".join(policies))
    resp.set_header("RateLimit", ", ".join(states))


def _subscriber(address: str) -> str:
    parsed = _parsed(address)
    if parsed is None:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, _SUBSCRIBER_BITS), strict=False).network_address)
    return str(parsed)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        return parsed.ipv4_mapped
    return parsed
