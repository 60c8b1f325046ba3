"""next_due and the bell: the scheduler knows when it has something to do, whatever comes in meanwhile."""

import pytest
import redis

from pipeline.queue import Rules
from pipeline.queue.types import DeviceRules
from tests.support.clock import FakeClock
from tests.support.line import BLUE, RED, Line, ShardedLine


@pytest.fixture(params=[0, 3], ids=["plain", "shards"])
def line(request: pytest.FixtureRequest, valkey: redis.Redis, clock: FakeClock) -> Line:
    rules = Rules(ttl_ms=600_000, lease_ms=30_000)
    return ShardedLine(valkey, clock, request.param, rules) if request.param else Line(valkey, clock, rules)


@pytest.mark.feature("S1")
def test_the_least_of_all_due_times_counts(line: Line) -> None:
    assert line.inspector.next_due_ms() is None
    line.submit(RED, 2)
    assert line.inspector.next_due_ms() == 600_000
    claim = line.claim()
    assert line.inspector.next_due_ms() == 30_000
    line.queue.start(claim.task_id, claim.token)
    line.queue.retry(claim.task_id, claim.token, cost_ms=1, delay_ms=120)
    assert line.inspector.next_due_ms() == 120
    line.clock.advance(500)
    assert line.inspector.next_due_ms() == 0


def test_a_rate_limit_that_opens_is_due(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(rate_per_minute=60))
    line.submit(RED, 61)
    for _ in range(60):
        claim = line.claim()
        line.queue.complete(claim.task_id, claim.token, cost_ms=1)

    assert line.inspector.next_due_ms() == 1_000


@pytest.mark.feature("S1")
def test_the_bell_rings_for_what_comes_sooner_than_all_the_rest_and_for_nothing_else(line: Line) -> None:
    ids = line.submit(RED, 1) + line.submit(BLUE, 1)
    claims = {claim.task_id: claim for claim in (line.claim(), line.claim())}
    for claim in claims.values():
        line.queue.start(claim.task_id, claim.token)
    assert not line.queue.wait_for_bell(timeout_s=0.01)

    line.queue.retry(ids[0], claims[ids[0]].token, cost_ms=1, delay_ms=120)
    assert line.queue.wait_for_bell(timeout_s=1)
    assert not line.queue.wait_for_bell(timeout_s=0.01)


def test_a_later_due_time_does_not_ring(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock)
    for delay_ms in (100, 200):
        line.submit(RED)
        claim = line.claim()
        line.queue.retry(claim.task_id, claim.token, cost_ms=1, delay_ms=delay_ms)

    assert line.queue.wait_for_bell(timeout_s=1)
    assert not line.queue.wait_for_bell(timeout_s=0.01)
