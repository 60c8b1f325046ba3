"""Debian's chromium, looking at a service of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.browsing import Look, Visit, start_chromium
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard

#: ms; the machine of the tests may be busy with others.
_PATIENCE_MS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in this folder needs a browser."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = start_chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Dashboard]:
    """A service without keys, whose user may do everything."""
    started = Dashboard(tmp_path_factory.mktemp("open"), valkey_url)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Dashboard]:
    """A service that asks everybody for a key."""
    started = Dashboard(tmp_path_factory.mktemp("keyed"), valkey_url)
    made_key(started.settings.effective_database_url, role="admin", site="*")
    yield started
    started.stop()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Begin visits; each fails the test in the end for whatever it noted and the test did not expect."""
    visits: list[Visit] = []

    def begin(dashboard: Dashboard, key: str | None = None, **look: object) -> Visit:
        visits.append(Visit(chromium, dashboard.base_url, Look(**look), key))
        return visits[-1]

    yield begin
    for each in visits:
        each.close()
    assert [fault for each in visits for fault in each.unexpected()] == []
