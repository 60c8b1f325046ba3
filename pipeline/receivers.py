"""Who may be announced to: what a receiver's URL must look like, and which addresses may be connected to.

A URL is judged when it is given, an address each time it is about to be connected to: a name may mean another machine
by then.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

#: Characters of one URL.
URL_MAX_CHARS = 2000

_DEFAULT_PORTS = {"https": 443, "http": 80}
#: Below these, other services than web servers listen.
_FIRST_FREE_PORT = 1024

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Inside somebody's network: private (RFC 1918, RFC 4193, RFC 3879), or shared by a provider (RFC 6598).
_INNER = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"),
    )
)
#: Addresses that stand for an IPv4 address in a way that a router may undo: NAT64 (RFC 6052, RFC 8215), 6to4, Teredo,
#: and the deprecated IPv4-compatible ones; and those of protocols (RFC 6890), which not every Python knows as special.
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            *("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96"),
            *("192.0.0.0/24", "192.88.99.0/24"),
        ),
    )
)
_NOT_PUBLIC = "is not a public address"


@dataclass(frozen=True, slots=True)
class ReceiverRules:
    """What an operator lets requests name.

    Args:
        allow_private: private, shared and loopback addresses, and any port.
        allow_http: URLs without TLS.
    """

    allow_private: bool = False
    allow_http: bool = False

    def url_fault(self, url: str) -> str | None:
        """Say what is wrong with the URL of a receiver, None when nothing is; no name is resolved."""
        if len(url) > URL_MAX_CHARS:
            return f"must be at most {URL_MAX_CHARS} characters"
        # Such characters mean one thing to one parser and another to the next; a URL has them percent-encoded.
        if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
            return "must be printable ASCII without spaces or backslashes; write other characters percent-encoded"
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return "is not a valid URL"
        return (
            self._scheme_fault(parts)
            or _host_fault(parts)
            or self._port_fault(parts.scheme, port)
            or (self._literal_fault(parts.hostname or ""))
        )

    def address_fault(self, address: str) -> str | None:
        """Say why an address must not be connected to, None when it may be."""
        try:
            found: IpAddress = ipaddress.ip_address(address)
        except ValueError:
            return "is no IP address"
        inner = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return self._judged(inner or found)

    def _judged(self, address: IpAddress) -> str | None:
        # Nobody listens there for announcements, and the metadata services of clouds are link-local: never.
        if address.is_multicast or address.is_unspecified or address.is_link_local or _is_broadcast(address):
            return "is not the address of a receiver"
        if address.is_loopback or _is_inner(address):
            return None if self.allow_private else _NOT_PUBLIC
        is_public = address.is_global and not address.is_reserved and not _is_special(address)
        return None if is_public else _NOT_PUBLIC

    def _scheme_fault(self, parts: SplitResult) -> str | None:
        if parts.scheme == "https" or (parts.scheme == "http" and self.allow_http):
            return None
        return "must be an http:// or https:// URL" if self.allow_http else "must be an https:// URL"

    def _port_fault(self, scheme: str, port: int | None) -> str | None:
        if port is None or port in _DEFAULT_PORTS.values() or port >= _FIRST_FREE_PORT:
            return None
        return None if self.allow_private and port > 0 else "must name port 80, 443 or one from 1024 on"

    def _literal_fault(self, host: str) -> str | None:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            # `127.1` and `0x7f.1` are addresses to some resolvers: what ends in a number must be a whole address.
            last = host.rstrip(".").rpartition(".")[2]
            return "must name a host, or a whole IP address" if _is_numeric(last) else None
        fault = self.address_fault(host)
        return f"names an address that {fault}" if fault else None


def port_of(parts: SplitResult) -> int:
    """The port that a receiver's URL means."""
    return parts.port or _DEFAULT_PORTS[parts.scheme]


def shown_url(url: str) -> str:
    """The URL as it may be shown and logged: what follows `?` may be a secret."""
    return url.partition("?")[0]


def _host_fault(parts: SplitResult) -> str | None:
    if "@" in parts.netloc:
        return "must hold no user name or password"
    if parts.fragment:
        return "must have no fragment"
    host = parts.hostname or ""
    if not host or len(host) > 253 or "%" in host:
        return "must name a host"
    return None


def _is_inner(address: IpAddress) -> bool:
    return any(address in network for network in _INNER)


def _is_broadcast(address: IpAddress) -> bool:
    return isinstance(address, ipaddress.IPv4Address) and int(address) == 0xFFFFFFFF


def _is_special(address: IpAddress) -> bool:
    return any(address in network for network in _SPECIAL)


def _is_numeric(label: str) -> bool:
    return label.isdecimal() or label.lower().startswith("0x")
