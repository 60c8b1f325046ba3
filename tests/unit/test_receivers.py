"""Who may be announced to: the table of addresses and URLs."""

import pytest

from pipeline.receivers import ReceiverRules, shown_url

STRICT, LOOSE = ReceiverRules(), ReceiverRules(allow_private=True, allow_http=True)

PUBLIC = ("8.8.8.8", "1.1.1.1", "172.32.0.1", "192.167.255.255", "2606:4700:4700::1111", "::ffff:8.8.8.8")
INNER = (
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("100.64.0.1", "100.127.255.255"),
    *("127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("fc00::1", "fdff::1", "fec0::1"),
)
NEVER = (
    *("0.0.0.0", "::", "255.255.255.255", "::ffff:0.0.0.0"),
    *("169.254.169.254", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254"),
    *("224.0.0.1", "239.255.255.255", "ff02::1"),
    *("240.0.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "192.0.0.8", "2001:db8::1"),
    # NAT64, local NAT64, 6to4, Teredo, IPv4-compatible: each leads to an IPv4 address inside.
    *("64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:a00:1::1", "2001:0:a00:1::1", "::a00:1"),
    "no address",
)


@pytest.mark.feature("R4")
@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_connected_to(address: str) -> None:
    assert STRICT.address_fault(address) is None
    assert LOOSE.address_fault(address) is None


@pytest.mark.feature("R4")
@pytest.mark.parametrize("address", INNER)
def test_an_address_inside_somebodys_network_is_connected_to_only_where_that_is_allowed(address: str) -> None:
    assert STRICT.address_fault(address) == "is not a public address"
    assert LOOSE.address_fault(address) is None


@pytest.mark.feature("R4")
@pytest.mark.parametrize("address", NEVER)
def test_an_address_of_no_receiver_is_never_connected_to(address: str) -> None:
    assert STRICT.address_fault(address)
    assert LOOSE.address_fault(address)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com:8443/hook?token=x%20y",
        "https://xn--bcher-kva.example/hook",
        "https://8.8.8.8/hook",
        "https://[2606:4700:4700::1111]:443/",
    ],
)
def test_a_plain_https_url_is_taken(url: str) -> None:
    assert STRICT.url_fault(url) is None


@pytest.mark.feature("R4")
@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com", "//example.com", "ftp://example.com", "file:///etc/passwd", "gopher://example.com"),
        *(
            "https://",
            "https:///hook",
            "https://user@example.com",
            "https://user:pw@example.com",
            "https://@example.com",
        ),
        *("https://example.com#part", "https://example.com:0", "https://example.com:99999", "https://example.com:x"),
        *("https://bücher.example", "https://exam ple.com", "https://example.com/\r\nx: y", "https://a\\@example.com"),
        *(
            "https://127.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://0/",
            "https://10.1/",
            "https://1.2.3.4.5/",
        ),
        *("https://169.254.169.254/latest", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[::1/"),
        "https://example.com/" + "x" * 2000,
    ],
)
def test_a_url_that_two_readers_may_read_differently_or_that_names_no_receiver_is_refused(url: str) -> None:
    assert STRICT.url_fault(url)
    assert LOOSE.url_fault(url)


@pytest.mark.parametrize(
    "url", ["http://example.com", "https://127.0.0.1/", "https://[::ffff:10.0.0.1]/", "https://example.com:22/"]
)
def test_what_an_operator_may_allow_is_refused_until_then(url: str) -> None:
    assert STRICT.url_fault(url)
    assert LOOSE.url_fault(url) is None


def test_what_follows_the_question_mark_is_not_shown() -> None:
    assert shown_url("https://example.com/hook?token=sesame") == "https://example.com/hook"
