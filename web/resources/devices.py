"""Devices: listed, shown, ruled."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from pipeline.device_errors import DeviceNotFound
from pipeline.devices import DeviceBook, DeviceView
from pipeline.errors import InvalidMac
from pipeline.intake import rules_of
from pipeline.mac import normalize_mac
from pipeline.settings import Settings
from web.access import Access
from web.auditing import name_target
from web.bodies import read_json
from web.caller import caller_of
from web.devices import (
    FILTERS,
    SITE,
    DeviceAnswer,
    DevicePatch,
    DevicesAnswer,
    cursor_of,
    place_of,
    site_of,
    wanted_by_query,
)
from web.errors import invalid_cursor, invalid_parameter
from web.filters import page_after
from web.operations import Operation, Parameter
from web.parameters import whole_number
from web.replies import reply
from web.schemas import validated

PATH = "/api/devices"
_PAGE = 50
_PAGE_MAX = 200
_BODY_MAX_BYTES = 10_000
_PATCH_KINDS = ("application/merge-patch+json", "application/json")


class DevicesResource:
    """`GET /api/devices`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="Devices: those that wait, about the longest waiting first; or sought by MAC, or all",
            parameters=(
                *FILTERS,
                Parameter("cursor", "where the page begins: taken from `next` of the page before"),
                Parameter("limit", "devices of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
            ),
            answers={200: (DevicesAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, devices: DeviceBook) -> None:
        self._devices = devices

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        wanted = wanted_by_query(req, within=caller_of(req).scope)
        place, limit = place_of(req), whole_number(req, "limit", default=_PAGE)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        if place is not None and wanted.sort != "oldest":
            raise invalid_parameter("cursor", "there is one page only in this order")
        try:
            page = self._devices.page(wanted, after=place, limit=limit)
        except ValueError as exc:
            raise invalid_cursor() from exc
        further = page_after(req, PATH, limit, cursor_of(page.after)) if page.after else None
        answers = [DeviceAnswer(**device.told()) for device in page.devices]
        reply(resp, DevicesAnswer(devices=answers, next=further, has_more=page.has_more))


class DeviceResource:
    """`/api/devices/{mac}`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="One device: what is set for it, and how it stands",
            parameters=(SITE,),
            answers={200: (DeviceAnswer,)},
            refusals=(404, 503),
        ),
        "PATCH": Operation(
            access=Access.ACT,
            summary="Change weight, limits and pauses of a device, at once and for what waits already",
            parameters=(SITE,),
            requests=dict.fromkeys(_PATCH_KINDS, (DevicePatch,)),
            answers={200: (DeviceAnswer,)},
            refusals=(404, 411, 413, 415, 422, 503),
        ),
    }

    def __init__(self, devices: DeviceBook, settings: Settings) -> None:
        self._devices = devices
        self._rules = rules_of(settings)

    def on_get(self, req: falcon.Request, resp: falcon.Response, mac: str) -> None:
        reply(resp, DeviceAnswer(**self._device(req, mac).told()))

    def on_patch(self, req: falcon.Request, resp: falcon.Response, mac: str) -> None:
        device = self._device(req, mac)
        patch = validated(DevicePatch, read_json(req, _BODY_MAX_BYTES, kinds=_PATCH_KINDS), self._rules)
        name_target(req, {"site": device.row.site, **patch.model_dump(exclude_unset=True)})
        reply(resp, DeviceAnswer(**self._devices.change(device, patch.merged).told()))

    def _device(self, req: falcon.Request, mac: str) -> DeviceView:
        site = site_of(req)
        try:
            return self._devices.find(normalize_mac(mac), caller_of(req).scope, site)
        except InvalidMac as exc:  # nobody can have such a device
            raise DeviceNotFound("no device has this MAC") from exc
