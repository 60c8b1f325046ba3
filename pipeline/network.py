"""Addresses of machines and networks, as settings and requests spell them."""

import ipaddress

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def networks_in(listed: str) -> list[Network]:
    """The addresses and networks in a list with commas between.

    Raises: ValueError.
    """
    return [ipaddress.ip_network(part.strip(), strict=False) for part in listed.split(",") if part.strip()]
