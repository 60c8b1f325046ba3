"""Fixtures for all tests: the servers, fresh data on them, a clock that is turned by hand, a folder of objects."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import redis

from models import base
from models.migrate import migrate
from pipeline.storage import ObjectStore, open_store
from tests.support.clock import FakeClock
from tests.support.databases import close_all, empty_tables, made_database
from tests.support.own_servers import started_postgres, started_valkey
from tests.support.servers import Server

#: `make test-browser` installs what these import, and runs them; all other tests do without.
collect_ignore = [] if find_spec("playwright") else ["browser"]


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Server]:
    with started_valkey() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    with started_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def valkey_url(valkey_server: Server) -> str:
    """URL of a Valkey that other tests use too; `valkey` empties it."""
    return valkey_server.url


@pytest.fixture(scope="session")
def postgres_url(postgres_server: Server) -> str:
    """URL of the database `postgres`, from which others are made."""
    return postgres_server.url


@pytest.fixture
def valkey(valkey_url: str) -> Iterator[redis.Redis]:
    """A client of an empty Valkey."""
    with redis.Redis.from_url(valkey_url) as client:
        client.flushall()
        yield client


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a database without a single table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'fairlane.db'}"
        return
    with made_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "fairlane.db"
    database = base.connect(f"sqlite:///{path}")
    migrate(database)
    close_all(database)  # which brings everything from the log beside it into the file
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres_url: str) -> Iterator[str]:
    """URL of a migrated PostgreSQL database, to be emptied: copying one takes 30 ms, and up to 800 ms under load."""
    with made_database(postgres_url) as url:
        database = base.connect(url)
        migrate(database)
        close_all(database)
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a migrated database without a task."""
    if request.param == "sqlite":
        path = tmp_path / "fairlane.db"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), path)
        yield f"sqlite:///{path}"
        return
    url = request.getfixturevalue("migrated_postgres")
    empty_tables(url)
    yield url


@pytest.fixture
def database(database_url: str) -> Iterator[base.Database]:
    """A migrated database: bound, and with an open connection for the thread of the test."""
    database = base.connect(database_url)
    base.bind(database)
    with base.connection():
        yield database
    close_all(database)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """A store in the folder `objects` of `tmp_path`."""
    return open_store(str(tmp_path / "objects"))
