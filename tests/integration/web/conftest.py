"""The web process itself, on SQLite."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.settings import Settings
from tests.support.web_server import WebServer


@pytest.fixture(scope="module")
def server_of(
    tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path, valkey_url: str
) -> Iterator[Callable[..., WebServer]]:
    """Start a server with some settings of its own, after `prepare` has been called with all of them."""
    started: list[WebServer] = []

    def start(prepare: Callable[[Settings], object] = lambda _: None, **settings: Any) -> WebServer:
        folder = tmp_path_factory.mktemp("web")
        shutil.copyfile(migrated_sqlite, folder / "fairlane.db")
        given: dict[str, Any] = {
            "data_dir": folder,
            "redis_url": valkey_url,
            "key_prefix": f"{folder.name}:",
            "web_bind": "127.0.0.1:0",
            "web_threads": 4,
            "long_poll_max_seconds": 1,
        }
        whole = Settings(_env_file=None, **{**given, **settings})
        prepare(whole)
        started.append(WebServer(folder, whole))
        return started[-1]

    yield start
    for server in started:
        server.process.terminate()  # all at once: each takes its time
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def server(server_of: Callable[..., WebServer]) -> WebServer:
    return server_of()
