"""Devices report what they detected themselves."""

import json

import pytest

from models.reports import DetectorReport
from tests.support.service import MAC, on_sqlite


def post(service, **fields):
    body = json.dumps({"mac": "AA:BB:CC:DD:EE:FF", "detection_id": "d1", **fields})
    return service.http().simulate_post("/api/decter", body=body, headers={"Content-Type": "application/json"})


@pytest.mark.feature("R5")
def test_a_report_is_stored_at_once(service):
    result = post(service, type="image", label="x", text="bad", score=0.5, words=["bad"], occurred_ms=1_700_000_000_000)
    assert (result.status_code, result.json) == (201, {"mac": MAC, "detection_id": "d1", "is_new": True})
    stored = DetectorReport.get()
    assert (stored.mac, stored.site, stored.type, stored.label, stored.text) == (MAC, "local", "image", "x", "bad")
    assert (stored.score, stored.words, stored.occurred_ms) == (0.5, ["bad"], 1_700_000_000_000)


@pytest.mark.feature("R5")
def test_the_same_report_again_is_known(service):
    post(service, text="first")
    result = post(service, text="second")
    assert (result.status_code, result.json["is_new"]) == (200, False)
    assert DetectorReport.get().text == "first"


@pytest.mark.feature("R5")
def test_devices_number_their_reports_independently(service):
    post(service)
    assert post(service, mac="0" * 12).status_code == 201


@on_sqlite
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"detection_id": "a b"}, "/detection_id"),
        ({"detection_id": None}, "/detection_id"),
        ({"score": 2}, "/score"),
        ({"occurred_ms": "now"}, "/occurred_ms"),
        ({"text": "\x00"}, "/text"),
        ({"unknown": 1}, "/unknown"),
    ],
)
def test_wrong_fields_are_named(service, fields, pointer):
    result = post(service, **fields)
    assert (result.status_code, result.json["errors"][0]["pointer"]) == (422, pointer)
    assert DetectorReport.select().count() == 0
