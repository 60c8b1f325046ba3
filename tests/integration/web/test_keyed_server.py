"""The server as it is started: where it may listen, what it says, and the recipes of docs/howto/keys.md."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.settings import Settings
from tests.support.callers import made_key
from tests.support.processes import wait_until
from tests.support.web_process import WebProcess

HOWTO = Path(__file__).parents[3] / "docs" / "howto" / "keys.md"


@pytest.fixture
def settings_of(tmp_path: Path, migrated_sqlite: Path, valkey_url: str) -> Callable[..., Settings]:
    """Settings of a service with a database of its own."""
    shutil.copyfile(migrated_sqlite, tmp_path / "fairlane.db")

    def build(**options: Any) -> Settings:
        own = {"data_dir": tmp_path, "redis_url": valkey_url, "key_prefix": "keyed-server-test:", "web_threads": 4}
        return Settings(_env_file=None, **{**own, **options})

    return build


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Settings], WebProcess]]:
    """Start the web; it ends with the test."""
    started: list[WebProcess] = []

    def start(settings: Settings) -> WebProcess:
        started.append(WebProcess(tmp_path, settings))
        return started[-1]

    yield start
    for process in started:
        if process.process.poll() is None:
            process.stop()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", HOWTO.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.feature("H3")
def test_without_a_key_it_does_not_start_on_other_addresses(
    settings_of: Callable[..., Settings], start: Callable[[Settings], WebProcess]
) -> None:
    web = start(settings_of(web_bind="0.0.0.0:0"))
    assert web.process.wait(timeout=60) == 2
    assert "fairlane key create" in web.output
    assert "Traceback" not in web.output


@pytest.mark.feature("H3")
def test_with_a_key_it_starts_on_other_addresses(
    settings_of: Callable[..., Settings], start: Callable[[Settings], WebProcess]
) -> None:
    settings = settings_of(web_bind="0.0.0.0:0")
    key = made_key(settings.effective_database_url, role="admin", site="*")
    url = start(settings).url()
    request = urllib.request.Request(f"{url}/api/queue", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        urllib.request.urlopen(f"{url}/api/queue", timeout=20)
    refused.value.close()


@pytest.mark.feature("H3")
def test_a_server_without_keys_says_so(
    settings_of: Callable[..., Settings], start: Callable[[Settings], WebProcess]
) -> None:
    web = start(settings_of(web_bind="127.0.0.1:0"))
    url = web.url()
    with urllib.request.urlopen(f"{url}/api/queue", timeout=20) as answer:
        assert answer.status == 200
    wait_until(lambda: "no API key was ever made" in web.output)


@pytest.mark.feature("H3")
def test_the_recipes_of_the_how_to_sign_requests(
    settings_of: Callable[..., Settings], start: Callable[[Settings], WebProcess], tmp_path: Path
) -> None:
    settings = settings_of(web_bind="127.0.0.1:0")
    key = made_key(settings.effective_database_url, must_sign=True)
    url = start(settings).url()
    shell = next(block for block in blocks("sh") if "openssl" in block)
    script = f"KEY={key}\nURL={url}\n{shell}"
    answer = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    accepted = json.loads(answer.stdout)
    assert accepted["state"] == "queued"

    python: dict[str, Any] = {}
    exec(blocks("python")[0], python)
    target = f"/api/ocr/tasks/{accepted['task_id']}?wait=0"
    headers = {"Authorization": python["authorization"](key, "GET", target)}
    with urllib.request.urlopen(urllib.request.Request(url + target, headers=headers), timeout=20) as shown:
        assert json.load(shown)["task_id"] == accepted["task_id"]


def test_it_serves_though_the_database_is_not_migrated_yet(
    settings_of: Callable[..., Settings], start: Callable[[Settings], WebProcess], tmp_path: Path
) -> None:
    web = start(settings_of(web_bind="127.0.0.1:0", database_url=f"sqlite:///{tmp_path}/empty.db"))
    with urllib.request.urlopen(f"{web.url()}/livez", timeout=20) as answer:
        assert answer.status == 200
    assert "fairlane migrate" in web.output
