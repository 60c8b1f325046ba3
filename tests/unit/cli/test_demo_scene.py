"""The devices of the demo, against a small server in place of fairlane."""

import json
import threading
from collections.abc import Callable

import pytest

from pipeline.cli import demo_scene
from pipeline.cli.api import Api
from pipeline.cli.demo_scene import Device, Scene, make_devices
from pipeline.mac import normalize_mac
from tests.support.http_service import Asked, HttpService, Reply, serving
from tests.support.processes import wait_until

IMAGES = [("a.png", b"a"), ("b.png", b"b")]
TEXTS = ["one", "two"]


def accept_all(asked: Asked) -> Reply:
    if asked.method == "POST":
        return Reply(202, {"task_id": "t", "state": "queued"})
    return Reply(200, {"task_id": "t", "state": "done"})


def play(devices: list[Device], answer: Callable[[Asked], Reply]) -> tuple[Scene, HttpService]:
    with serving(answer) as service:
        scene = Scene(Api(service.url), devices, threading.Event())
        scene.begin()
        wait_until(lambda: scene.is_over)
        return scene, service


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_scene, "_LATER_S", 0)


def test_one_device_floods_and_two_do_not() -> None:
    assert [(device.is_flooding, device.total) for device in make_devices(IMAGES, TEXTS)] == [
        (True, 90),
        (False, 8),
        (False, 8),
    ]


def test_every_demo_has_devices_of_its_own() -> None:
    macs = [device.mac for _ in range(2) for device in make_devices(IMAGES, TEXTS)]
    assert [normalize_mac(mac) for mac in macs] == macs
    assert len(set(macs)) == 6


def test_everything_is_sent_once_and_waited_for() -> None:
    devices = make_devices(IMAGES, TEXTS)
    scene, service = play(devices, accept_all)
    assert sum(asked.method == "POST" for asked in service.asked) == 106
    assert all(device.done == device.ended == device.total for device in devices)
    assert scene.problems == []


def test_the_others_come_behind_the_whole_flood() -> None:
    devices = make_devices(IMAGES, TEXTS)
    _, service = play(devices, accept_all)
    texts = [asked for asked in service.asked if asked.path == "/api/ocr/text"]
    macs = [json.loads(asked.body)["mac"] for asked in texts]
    assert set(macs[:60]) == {devices[0].mac}
    assert devices[0].mac not in macs[60:]


def test_a_refused_flood_is_a_problem_and_the_others_still_come() -> None:
    devices = make_devices(IMAGES, TEXTS)

    def refuse_the_flood(asked: Asked) -> Reply:
        if devices[0].mac.encode() in asked.body:
            return Reply(422, {"detail": "no"})
        return accept_all(asked)

    scene, _ = play(devices, refuse_the_flood)
    assert scene.problems == ["flooding: no"]
    assert [device.done for device in devices] == [0, 8, 8]


def test_a_task_that_failed_is_ended_but_not_done() -> None:
    devices = [Device("one", "020000000001", [], ["x"], is_flooding=True)]
    play(devices, lambda asked: accept_all(asked) if asked.method == "POST" else Reply(200, {"state": "failed"}))
    assert (devices[0].ended, devices[0].done) == (1, 0)
