"""URLs of several servers: read, or refused with the name of the setting."""

import pytest

from pipeline.errors import ConfigurationError
from pipeline.queue.addresses import Address, cluster_address, sentinel_address
from pipeline.queue.connection import connect


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis+cluster://a:1", Address((("a", 1),))),
        ("redis+cluster://a,b:2/", Address((("a", 6379), ("b", 2)))),
        ("redis+cluster://me:p%40ss@[::1]:7,[::2]", Address((("::1", 7), ("::2", 6379)), "me", "p@ss")),
        ("redis+cluster://:secret@a:1", Address((("a", 1),), None, "secret")),
    ],
)
def test_a_cluster_is_named_by_its_nodes(url: str, address: Address) -> None:
    assert cluster_address(url) == address


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis+sentinel://a:1,b:2/line/3", Address((("a", 1), ("b", 2)), service="line", db=3)),
        ("redis+sentinel://a/line", Address((("a", 26379),), service="line")),
        ("redis+sentinel://me:secret@a:1/line", Address((("a", 1),), "me", "secret", service="line")),
    ],
)
def test_a_master_is_named_by_its_sentinels_and_its_service(url: str, address: Address) -> None:
    assert sentinel_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "redis+cluster://",
        "redis+cluster://a:b",
        "redis+cluster://a:0",
        "redis+cluster://a:70000",
        "redis+cluster://a,",
        "redis+cluster://a/1",
        "redis+sentinel://a:1",
        "redis+sentinel://a:1/",
        "redis+sentinel://a:1/line/x",
        "redis+sentinel://a:1/line/-1",
        "http://a",
    ],
)
def test_a_wrong_url_is_refused_with_the_name_of_its_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="FAIRLANE_REDIS_URL"):
        connect(url)


def test_nothing_is_connected_before_the_first_call() -> None:
    for url in ("redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/line"):
        connect(url)
