"""Addresses, in the spellings that people use."""

import pytest

from pipeline.network import is_loopback, networks_in


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_these_are_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example", "[::1]"])
def test_these_are_not(host: str) -> None:
    assert not is_loopback(host)


def test_networks_and_addresses_stand_in_one_list() -> None:
    assert [str(network) for network in networks_in(" 10.0.0.0/8,192.168.1.7 , ,::1")] == [
        "10.0.0.0/8",
        "192.168.1.7/32",
        "::1/128",
    ]
    with pytest.raises(ValueError):
        networks_in("proxy.local")
