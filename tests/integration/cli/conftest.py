"""A set-up of fairlane in which nothing is wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from models.base import connect
from models.migrate import migrate
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_valkey
from tests.support.servers import Server
from tests.support.sound import Sound


@pytest.fixture(scope="module")
def own_valkey() -> Iterator[Server]:
    """A Valkey whose configuration is nobody else's."""
    with started_valkey() as server:
        yield server


@pytest.fixture
def sound(
    own_valkey: Server,
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Sound]:
    """A Valkey and a PostgreSQL as they should be, a folder, a scheduler and a worker that were heard of just now."""
    monkeypatch.chdir(tmp_path)
    with redis.Redis.from_url(own_valkey.url) as client, made_database(postgres_url) as database_url:
        client.replicaof("NO", "ONE")
        client.flushall()
        for name, value in (
            ("maxmemory-policy", "noeviction"),
            ("appendonly", "yes"),
            ("appendfsync", "everysec"),
            ("maxmemory", "0"),
        ):
            client.config_set(name, value)
        database = connect(database_url)
        migrate(database)
        close_all(database)
        made = Sound(client, tmp_path, database_url, monkeypatch, capsys)
        made.set(redis_url=own_valkey.url, database_url=database_url, data_dir=tmp_path / "data")
        made.set(storage_url=tmp_path / "objects")
        made.register()
        made.publish()
        yield made
