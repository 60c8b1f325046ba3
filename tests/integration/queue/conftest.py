"""A fresh queue for each test."""

import pytest
import redis

from pipeline.queue import Rules
from tests.support.clock import FakeClock
from tests.support.line import Line


@pytest.fixture
def line(valkey: redis.Redis, clock: FakeClock) -> Line:
    return Line(valkey, clock)


@pytest.fixture
def aging(valkey: redis.Redis, clock: FakeClock) -> Line:
    return Line(valkey, clock, Rules(policy="aging"))
