"""What is set for a device over HTTP: a merge patch, kept by the database and obeyed by the queue."""

import json

import pytest

from models.devices import Devices
from models.scope import EVERYTHING
from pipeline.devices import DeviceBook
from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue
from tests.support.callers import guest
from tests.support.devices import DEVICES, listed, patch, submit
from tests.support.service import MAC, on_sqlite


@pytest.fixture
def operator(service):
    return guest(service, "operator", "*")


@pytest.mark.feature("Q18")
def test_a_pause_stops_a_device_at_once_and_a_resume_starts_it(service, operator):
    submit(service, MAC)
    paused = patch(operator, {"paused": True})
    assert (paused.status_code, paused.json["paused"]) == (200, True)
    assert paused.json["lanes"]["text"]["gate"] == "paused"
    assert service.queue.claim("text") == []
    assert listed(operator, show="paused") == [MAC]
    assert patch(operator, {"paused": True}).json == paused.json
    assert patch(operator, {"paused": False}).json["lanes"]["text"]["gate"] is None
    assert listed(operator, show="paused") == []
    assert service.queue.claim("text")[0].mac == MAC


@pytest.mark.feature("Q18")
def test_one_lane_is_paused_alone_and_stays_so_when_the_device_is_resumed(service, operator):
    submit(service, MAC)
    patch(operator, {"lanes": {"text": {"paused": True}}, "paused": True})
    shown = patch(operator, {"paused": False}).json
    assert [shown["lanes"][lane]["paused"] for lane in ("ocr", "text", "notify")] == [False, True, False]
    assert service.queue.claim("text") == []
    assert listed(operator, show="paused", lane="ocr") == []
    assert listed(operator, show="paused", lane="text") == [MAC]
    assert patch(operator, {"lanes": {"ocr": {"paused": True}}}).json["lanes"]["text"]["paused"] is True
    assert patch(operator, {"lanes": {"text": None}}).json["lanes"]["ocr"]["paused"] is True
    assert listed(operator, show="paused", lane="text") == []
    assert patch(operator, {"lanes": None}).json["lanes"]["ocr"]["paused"] is False
    assert len(service.queue.claim("text")) == 1


@pytest.mark.feature("Q18")
def test_a_merge_patch_changes_what_it_names_and_null_brings_back_the_usual(service, operator):
    submit(service, MAC)
    set_all = patch(operator, {"weight": 2, "max_inflight": 3, "rate_per_minute": 0.5}).json
    assert (set_all["weight"], set_all["max_inflight"], set_all["rate_per_minute"]) == (2.0, 3, 0.5)
    other = patch(operator, {"weight": None}).json
    assert (other["weight"], other["max_inflight"], other["rate_per_minute"]) == (1.0, 3, 0.5)
    assert patch(operator, {}).json == other
    usual = patch(operator, {"max_inflight": None, "rate_per_minute": None}).json
    assert (usual["max_inflight"], usual["rate_per_minute"]) == (None, None)
    assert Devices(service.database).page(EVERYTHING, only_ruled=True, after=None, limit=9) == []


@on_sqlite
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"weight": 0}, "/weight"),
        ({"weight": 1001}, "/weight"),
        ({"weight": "2"}, "/weight"),
        ({"weight": True}, "/weight"),
        ({"max_inflight": 0}, "/max_inflight"),
        ({"max_inflight": 1.5}, "/max_inflight"),
        ({"max_inflight": 10**30}, "/max_inflight"),
        ({"rate_per_minute": 0}, "/rate_per_minute"),
        ({"rate_per_minute": -1}, "/rate_per_minute"),
        ({"paused": "yes"}, "/paused"),
        ({"paused": 1}, "/paused"),
        ({"lanes": {"fax": {"paused": True}}}, "/lanes/fax"),
        ({"lanes": {"ocr": True}}, "/lanes/ocr"),
        ({"lanes": {"ocr": {"weight": 1}}}, "/lanes/ocr/weight"),
        ({"lanes": []}, "/lanes"),
        ({"site": "south"}, "/site"),
        ([], ""),
        (None, ""),
    ],
)
def test_a_wrong_patch_is_refused_whole(service, operator, change, pointer):
    submit(service, MAC)
    before = operator.ask("GET", f"{DEVICES}/{MAC}").json
    wrong = {"max_inflight": 5, **change} if isinstance(change, dict) else change
    result = patch(operator, wrong)
    assert (result.status_code, result.json["type"]) == (422, "/problems/validation-failed")
    assert [fault["pointer"] for fault in result.json["errors"]] == [pointer]
    assert operator.ask("GET", f"{DEVICES}/{MAC}").json == before


@on_sqlite
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ("{}", "text/plain", 415),
        ("{}", "application/json-patch+json", 415),
        ('{"weight": NaN}', "application/json", 400),
        ('{"paused": true, "paused": false}', "application/json", 400),
        ("", "application/json", 400),
        (" " * 10_001, "application/json", 413),
    ],
)
def test_what_cannot_be_read_is_refused(service, operator, body, kind, status):
    submit(service, MAC)
    assert operator.ask("PATCH", f"{DEVICES}/{MAC}", body=body, headers={"Content-Type": kind}).status_code == status


@pytest.mark.feature("H3")
def test_a_change_is_a_line_of_the_audit_that_says_what_was_set(service, operator):
    submit(service, MAC)
    patch(operator, {"paused": True, "lanes": {"ocr": {"paused": None}}})
    (line, *_) = guest(service, site="*").ask("GET", "/api/audit").json["lines"]
    assert (line["action"], line["outcome"]) == ("PATCH /api/devices/{mac}", "200")
    said = json.loads(line["target"].partition(" ")[2])
    assert said == {"site": "local", "paused": True, "lanes": {"ocr": {"paused": None}}}
    assert guest(service, "viewer", "*").ask("PATCH", f"{DEVICES}/{MAC}", json={}).status_code == 403


class _DeafQueue(FairQueue):
    """A queue that does not hear of rules."""

    def set_device(self, *_args, **_options):
        raise QueueUnavailable("set_device: no answer from redis://10.1.2.3")


@pytest.mark.feature("Q18")
def test_what_the_queue_could_not_be_told_is_not_kept(service):
    submit(service, MAC)
    book = DeviceBook(Devices(service.database), service.pages, service.queue_like(_DeafQueue))
    operator = guest(service, "operator", client=service.http(devices=book))
    result = patch(operator, {"paused": True})
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
    assert operator.ask("GET", f"{DEVICES}/{MAC}").json["paused"] is False
    assert listed(operator, show="paused") == []
