"""`fairlane device`, on a real SQLite file and a real Valkey."""

import json
from pathlib import Path
from typing import Any

import pytest
import redis

from models.audit import AuditTrail
from models.base import bind, bound, connect, connection, write
from models.devices import note_device
from models.migrate import migrate
from models.sites import Site, line_of
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.queue import FairQueue, Task, open_queue
from pipeline.settings import load_settings

RED, BLUE = "aabbccddeeff", "112233445566"


class House:
    """Devices with work, and the commands that are run on them."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        settings = load_settings()
        database = connect(settings.effective_database_url)
        migrate(database)
        bind(database)
        self.queue: FairQueue = open_queue(settings)
        self._capsys = capsys

    def enter(self, mac: str, tasks: int = 0, site: str = "local") -> None:
        now_ms = SystemClock().now_ms()
        with write(bound()):
            Site.insert(site=site, created_ms=now_ms).on_conflict_ignore().returning(Site.site).execute()
            note_device(site, mac, now_ms)
        for number in range(tasks):
            self.queue.enqueue(Task(f"{site}-{mac}-{number}", "text", line_of(site, mac), now_ms, site=site))

    def json(self, *arguments: str) -> Any:
        assert run(["device", *arguments, "-o", "json"]) == 0
        return json.loads(self._capsys.readouterr().out)

    def text(self, *arguments: str, code: int = 0) -> str:
        assert run(["device", *arguments]) == code
        out, err = self._capsys.readouterr()
        return out if code == 0 else err


@pytest.fixture
def house(
    valkey: redis.Redis,
    valkey_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> House:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", valkey_url)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))
    return House(capsys)


@pytest.mark.feature("H6")
def test_devices_are_listed_as_the_api_names_them(house: House) -> None:
    house.enter(RED, 2)
    house.enter(BLUE)

    (red,) = house.json("list")

    assert (red["mac"], red["waiting"], red["lanes"]["text"]["due_share"]) == (RED, 2, 1.0)
    assert [device["mac"] for device in house.json("list", "--show", "all", "--limit", "5")] == [BLUE, RED]
    assert [device["mac"] for device in house.json("list", "--show", "all", "--mac", "11:22")] == [BLUE]
    assert "aa:bb:cc:dd:ee:ff" in house.text("list", "--sort", "waiting", "--lane", "text")
    assert len(house.text("list", "--show", "all", "-o", "jsonl").splitlines()) == 2


@pytest.mark.feature("H6", "Q18")
def test_a_device_is_paused_and_resumed_as_a_whole_and_in_a_lane(house: House) -> None:
    house.enter(RED, 1)

    assert house.json("pause", "AA:BB:CC:DD:EE:FF")["paused"] is True
    assert house.queue.claim("text") == []
    house.text("pause", RED, "--lane", "text")
    assert house.json("resume", RED)["lanes"]["text"]["paused"] is True
    assert house.queue.claim("text") == []
    assert [device["mac"] for device in house.json("list", "--show", "paused")] == [RED]
    assert "no" in house.text("resume", RED, "--lane", "text")
    assert len(house.queue.claim("text")) == 1


@pytest.mark.feature("H6", "Q18")
def test_what_is_set_is_shown_and_taken_back(house: House) -> None:
    house.enter(RED)

    told = house.json("set", RED, "--weight", "2.5", "--max-inflight", "3", "--rate-per-minute", "0.5")

    assert (told["weight"], told["max_inflight"], told["rate_per_minute"]) == (2.5, 3, 0.5)
    assert "2.5" in house.text("show", RED)
    told = house.json("set", RED, "--weight", "usual", "--rate-per-minute", "usual")
    assert (told["weight"], told["max_inflight"], told["rate_per_minute"]) == (1.0, 3, None)
    with connection():
        lines = AuditTrail(bound(), SystemClock()).page(site="local", before=None, limit=9)
    assert [(line.action, line.outcome) for line in lines] == [("device set", "done")] * 2
    assert json.loads(lines[1].target)["max_inflight"] == 3


def test_whose_device_is_meant_must_be_said_when_two_sites_have_it(house: House) -> None:
    house.enter(RED, 1, "north")
    house.enter(RED, 1, "south")

    assert "--site" in house.text("pause", RED, code=2)
    assert house.json("pause", RED, "--site", "north")["site"] == "north"
    assert [device["site"] for device in house.json("list", "--site", "south")] == ["south"]
    assert house.queue.claim("text")[0].site == "south"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("show", BLUE), 3),
        (("pause", BLUE), 3),
        (("show", "xyz"), 2),
        (("set", RED), 2),
        (("set", RED, "--weight", "0"), 2),
        (("set", RED, "--weight", "nan"), 2),
        (("set", RED, "--max-inflight", "1.5"), 2),
        (("pause", RED, "--lane", "fax"), 2),
        (("list", "--mac", "xyz"), 2),
        (("list", "--site", "A B"), 2),
        (("list", "--sort", "share", "--show", "all"), 2),
    ],
)
def test_what_is_wrong_has_its_exit_code(house: House, arguments: tuple[str, ...], code: int) -> None:
    house.enter(RED)

    assert house.text(*arguments, code=code)


def test_a_queue_that_does_not_answer_leaves_the_device_as_it_was(
    house: House, monkeypatch: pytest.MonkeyPatch, valkey_url: str
) -> None:
    house.enter(RED)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", "unix:///nowhere/valkey.sock")
    assert house.text("pause", RED, code=4)
    monkeypatch.setenv("FAIRLANE_REDIS_URL", valkey_url)
    assert house.json("show", RED)["paused"] is False
