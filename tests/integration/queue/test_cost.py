"""What each operation costs the server, counted in Redis commands: never in time, which says more about the machine."""

import pytest
import redis

from pipeline.queue import Rules
from pipeline.simulation.live.cost import OperationCost
from pipeline.simulation.live.statistics import ServerStatistics

UNLIMITED = Rules(max_total=10**9, max_per_mac=10**9)


@pytest.mark.feature("Q20")
def test_no_operation_takes_more_commands_with_100_000_devices_than_with_10(
    valkey: redis.Redis, valkey_url: str
) -> None:
    few = OperationCost(valkey_url, UNLIMITED, 10).count()

    many = OperationCost(valkey_url, UNLIMITED, 100_000).count()

    assert many == few
    assert {"enqueue", "claim", "start", "complete", "retry", "defer", "promote", "resume", "reap", "expire"} <= set(
        few
    )
    assert "explain" in few
    assert max(many["claim"].total(), many["claim again"].total()) <= 12
    valkey.flushall()


@pytest.mark.feature("Q20")
def test_no_operation_scans(valkey: redis.Redis, valkey_url: str) -> None:
    with ServerStatistics(valkey).recording() as calls:
        OperationCost(valkey_url, UNLIMITED, 30).count()

    commands = [[word.upper() for word in command] for call in calls for command in call]
    assert not {command[0] for command in commands} & {b"SCAN", b"KEYS", b"HGETALL", b"SMEMBERS", b"ZREVRANGE", b"SORT"}
    assert all(b"LIMIT" in command for command in commands if command[0] == b"ZRANGEBYSCORE")
    assert {command[3] for command in commands if command[0] == b"ZRANGE"} <= {b"0", b"1"}


@pytest.mark.feature("Q20")
@pytest.mark.parametrize("policy", ["fair", "aging"])
def test_both_policies_cost_the_same(valkey: redis.Redis, valkey_url: str, policy: str) -> None:
    rules = Rules(policy="aging" if policy == "aging" else "fair", max_total=10**9, max_per_mac=10**9)

    counted = OperationCost(valkey_url, rules, 50).count()

    assert counted == OperationCost(valkey_url, rules, 500).count()
    assert counted["claim"].total() <= 12
