"""Devices over HTTP, as tests ask for them."""

import json
from typing import Any

import falcon.testing

from pipeline.submission import TextSubmission
from tests.support.callers import Guest
from tests.support.service import MAC, Service

DEVICES = "/api/devices"
_PATCH = {"Content-Type": "application/merge-patch+json"}


def mac_of(number: int) -> str:
    return f"{number:012x}"


def submit(service: Service, mac: str, count: int = 1, site: str = "local") -> None:
    """Texts of a device, and then a second without any."""
    for _ in range(count):
        service.intake().submit_text(TextSubmission(mac=mac, text="x", site=site))
    service.clock.advance(1_000)


def listed(asker: Guest, **query: str) -> list[str]:
    """The MACs of all pages."""
    macs, answer = [], asker.ask("GET", DEVICES, params=query)
    while True:
        assert answer.status_code == 200, answer.text
        macs += [device["mac"] for device in answer.json["devices"]]
        if not answer.json["next"]:
            return macs
        path, _, rest = answer.json["next"].partition("?")
        answer = asker.ask("GET", path, query_string=rest)


def patch(asker: Guest, change: Any, mac: str = MAC, **options: Any) -> falcon.testing.Result:
    return asker.ask("PATCH", f"{DEVICES}/{mac}", body=json.dumps(change), headers=_PATCH, **options)
