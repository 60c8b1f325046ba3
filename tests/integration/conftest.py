"""The service put together on a real Valkey and each database."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from pipeline.settings import Settings
from pipeline.storage import ObjectStore, open_store
from tests.support.clock import FakeClock
from tests.support.service import Service
from tests.support.word_lists import Lists


@pytest.fixture
def service_of(
    valkey: redis.Redis, database: Any, clock: FakeClock, tmp_path: Path
) -> Iterator[Callable[..., Service]]:
    """Build a service with some settings of its own."""
    folder = tmp_path / "objects"
    built: list[Service] = []

    def build(**settings: Any) -> Service:
        chosen = Settings(_env_file=None, data_dir=tmp_path, **settings)
        built.append(Service(valkey, database, open_store(str(folder)), folder, clock, chosen))
        return built[-1]

    yield build
    for service in built:
        service.lists.close()


@pytest.fixture
def lists(database: Any, store: ObjectStore, tmp_path: Path, clock: FakeClock) -> Iterator[Lists]:
    """A library of lists of words, and what follows it."""
    made = Lists(database, store, tmp_path / "words", clock)
    yield made
    made.close()


@pytest.fixture
def service(service_of: Callable[..., Service]) -> Service:
    return service_of()
