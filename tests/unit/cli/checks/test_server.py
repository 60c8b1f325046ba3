"""What a server tells of itself, judged: old versions, Clusters with nodes that differ, servers that tell little."""

import pytest

from pipeline.cli.checks.finding import Check
from pipeline.cli.checks.server import judged, layout_check
from pipeline.queue import StoredLayout

WELL = {
    "redis_version": "7.2.4",
    "role": "master",
    "cluster_enabled": "0",
    "maxmemory_policy": "noeviction",
    "maxmemory": "0",
    "used_memory": "1000000",
    "aof_enabled": "1",
    "appendfsync": "everysec",
    "aof_last_write_status": "ok",
    "hash-max-listpack-value": "128",
    "zset-max-listpack-value": "128",
}


def faults(**changes: str) -> list[Check]:
    return [check for check in judged({**WELL, **changes}, is_cluster_url=False) if not check.is_fine]


def test_a_good_server_has_no_fault() -> None:
    assert faults() == []


@pytest.mark.parametrize("version", ["6.2.14", "5.0.3", "7.2.4, 6.2.14"])
def test_an_old_redis_is_named(version: str) -> None:
    (fault,) = faults(redis_version=version)

    assert version in fault.found
    assert "Redis 7 or any Valkey" in fault.cure


def test_a_valkey_is_judged_by_its_own_name() -> None:
    assert judged({**WELL, "valkey_version": "9.1.0"}, is_cluster_url=False)[0].found == "answers, Valkey 9.1.0"


def test_a_node_that_differs_from_the_others_is_named() -> None:
    (fault,) = faults(maxmemory_policy="noeviction, allkeys-lru")

    assert "allkeys-lru" in fault.found


def test_a_failed_write_of_the_file_is_named() -> None:
    (fault,) = faults(aof_last_write_status="err")

    assert "failed" in fault.found


def test_a_server_that_keeps_each_task_in_a_large_form_is_noted() -> None:
    small = {"hash-max-listpack-value": "64", "zset-max-listpack-value": "128, 64"}

    (form,) = (check for check in judged({**WELL, **small}, is_cluster_url=True) if check.name == "queue form")

    assert form.is_fine
    assert form.found == "hash-max-listpack-value 64, zset-max-listpack-value 64"
    assert "128" in form.cure


def test_what_a_server_does_not_tell_is_left_out() -> None:
    names = [check.name for check in judged({"redis_version": "7.4.0", "aof_enabled": "1"}, is_cluster_url=False)]

    assert names == ["queue", "queue eviction", "queue persistence", "queue memory"]


def test_a_cluster_named_as_one_is_no_fault() -> None:
    assert all(check.is_fine for check in judged({**WELL, "cluster_enabled": "1"}, is_cluster_url=True))


@pytest.mark.parametrize(
    ("stored", "count", "is_fine"),
    [
        (StoredLayout(is_plain=False, shards=frozenset()), None, True),
        (StoredLayout(is_plain=True, shards=frozenset()), None, True),
        (StoredLayout(is_plain=False, shards=frozenset({0, 1})), 2, True),
        (StoredLayout(is_plain=False, shards=frozenset({0, 1})), None, False),
        (StoredLayout(is_plain=False, shards=frozenset({0, 1})), 1, False),
        (StoredLayout(is_plain=False, shards=frozenset({0, 1})), 4, False),
        (StoredLayout(is_plain=True, shards=frozenset({0, 1})), 2, False),
    ],
)
def test_a_layout_is_fine_when_it_is_the_only_one_and_whole(
    stored: StoredLayout, count: int | None, is_fine: bool
) -> None:
    check = layout_check(stored, count)

    assert check.is_fine is is_fine
    assert bool(check.cure) is not is_fine
