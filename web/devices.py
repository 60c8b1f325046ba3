"""What is asked and said about devices over HTTP."""

import re
from dataclasses import replace
from typing import Annotated, Any, get_args

import falcon
from pydantic import Field

from models.devices import DevicePlace, SetRules
from models.scope import Scope
from models.sites import site_fault
from pipeline.devices import Place, Show, Sort, WantedDevices
from pipeline.mac import prefix_of_mac
from pipeline.queue import LANES, Listed
from pipeline.queue.limits import COUNT_MAX, WEIGHT_MAX, WEIGHT_MIN
from web.answers import Answer
from web.cursors import cursor_saying, said_by_cursor
from web.errors import invalid_cursor, invalid_parameter
from web.operations import Parameter
from web.parameters import one_of, single
from web.schemas import Request

SITE = Parameter("site", "whose device, for keys of every site")
FILTERS = (
    Parameter(
        "show",
        "those with tasks waiting (if not given), those that starve, those that are paused, or all",
        {"enum": list(get_args(Show))},
    ),
    Parameter("lane", "look at this lane only", {"enum": list(LANES)}),
    Parameter(
        "mac",
        "whose MAC begins so; by MAC, and a page then looks at some hundred devices, and may hold none though there is "
        "a next one",
        {"type": "string", "minLength": 1, "maxLength": 17},
    ),
    Parameter(
        "sort",
        "by the longest wait (if not given); or, of the 500 that wait longest, by tasks waiting or by share: one page",
        {"enum": list(get_args(Sort))},
    ),
    SITE,
)
_CURSOR = re.compile(r"q:(-?[0-9]{1,16}):([a-z]{1,16}):([!-~]{1,64})|d:([0-9a-f]{12}):([!-~]{1,64})", re.ASCII)


class LaneOfDeviceAnswer(Answer):
    """A device in one lane."""

    waiting: int
    in_flight: int
    oldest_wait_ms: int | None = Field(description="of the first task in line; null when none waits")
    score: float = Field(description="seconds: the wait of the first task, at most the longest that counts, weighted")
    starved: bool = Field(description="it could be served, and has waited for longer than the starvation hint")
    paused: bool = Field(description="this lane of the device alone; its `paused` is for all of them")
    gate: str | None = Field(description="what keeps it from being served: paused, capped, deferred or rate_limited")
    gate_opens_ms: int | None = Field(description="when the gate opens by itself, epoch ms")
    backoff_until_ms: int | None = Field(description="it is deferred until then, epoch ms")
    share: float | None = Field(
        description="of the worker time that its site was given here of late; null when that is nothing"
    )
    due_share: float | None = Field(
        description="its weight among the devices of its site with work here; null when it has none"
    )


class DeviceAnswer(Answer):
    """A device: what is set for it, and how it stands; times in epoch ms."""

    mac: str
    site: str
    first_seen_ms: int
    last_seen_ms: int
    weight: float
    max_inflight: int | None = Field(description="tasks of one lane in flight; null: no limit of its own")
    rate_per_minute: float | None = Field(description="tasks of one lane begun a minute; null: no limit")
    paused: bool = Field(description="in all lanes")
    waiting: int
    in_flight: int
    pending: int = Field(description="waiting, delayed and in flight")
    oldest_wait_ms: int | None
    starved: bool
    lanes: dict[str, LaneOfDeviceAnswer]


class DevicesAnswer(Answer):
    """One page."""

    devices: list[DeviceAnswer]
    next: str | None = Field(description="where the next page is; null on the last")
    has_more: bool = Field(description="more devices wait than a sort by waiting or share shows")


class LanePatch(Request):
    """One lane of a device."""

    paused: bool | None = Field(None, description="null: not paused")


class LanesPatch(Request):
    """Lanes of a device; what is not there stays as it is, null: not paused."""

    ocr: LanePatch | None = None
    text: LanePatch | None = None
    notify: LanePatch | None = None


class DevicePatch(Request):
    """A JSON merge patch (RFC 7396): what is not there stays as it is, null stands for the usual."""

    weight: Annotated[float, Field(ge=WEIGHT_MIN, le=WEIGHT_MAX)] | None = None
    max_inflight: Annotated[int, Field(ge=1, le=COUNT_MAX)] | None = None
    rate_per_minute: Annotated[float, Field(gt=0, le=COUNT_MAX)] | None = None
    paused: bool | None = Field(None, description="in all lanes; the lanes that are paused alone stay so")
    lanes: LanesPatch | None = None

    def merged(self, rules: SetRules) -> SetRules:
        """The rules after this patch."""
        given = self.model_fields_set
        changes: dict[str, Any] = {name: getattr(self, name) for name in ("max_inflight", "rate_per_minute")}
        changes |= {"weight": self.weight or 1.0, "is_paused": bool(self.paused)}
        named = {"is_paused": "paused"}
        chosen = {name: value for name, value in changes.items() if named.get(name, name) in given}
        if "lanes" in given:
            chosen["paused_lanes"] = self._paused_lanes(rules)
        return replace(rules, **chosen)

    def _paused_lanes(self, rules: SetRules) -> frozenset[str]:
        if self.lanes is None:
            return frozenset()
        paused = set(rules.paused_lanes)
        for name in self.lanes.model_fields_set:
            lane: LanePatch | None = getattr(self.lanes, name)
            if lane is None or "paused" in lane.model_fields_set:
                paused.discard(name)
                paused |= {name} if lane is not None and lane.paused else set()
        return frozenset(paused)


def wanted_by_query(req: falcon.Request, *, within: Scope) -> WantedDevices:
    """The devices that the query parameters of `FILTERS` mean.

    Raises: HttpProblem 400.
    """
    wanted = WantedDevices(
        within=_of_site(within, site_of(req)),
        show=one_of(req, "show", get_args(Show)) or "waiting",
        lane=one_of(req, "lane", LANES),
        prefix=_prefix(req),
        sort=one_of(req, "sort", get_args(Sort)) or "oldest",
    )
    if wanted.sort != "oldest" and not wanted.is_by_wait:
        raise invalid_parameter("sort", "is for those that wait, and without mac")
    return wanted


def site_of(req: falcon.Request) -> str | None:
    """The site that the query names.

    Raises: HttpProblem 400.
    """
    given = single(req, "site")
    fault = None if given is None else site_fault(given)
    if fault:
        raise invalid_parameter("site", fault)
    return given


def place_of(req: falcon.Request) -> Place | None:
    """Where the page begins.

    Raises: HttpProblem 400 for a cursor that we did not make.
    """
    found = said_by_cursor(req, _CURSOR)
    if found is None:
        return None
    if found[4]:
        return DevicePlace(found[4], found[5])
    lane = next((lane for lane in LANES if lane == found[2]), None)
    if lane is None:
        raise invalid_cursor()
    return Listed(int(found[1]), lane, found[3])


def cursor_of(place: Place) -> str:
    if isinstance(place, Listed):
        return cursor_saying(f"q:{place.since_ms}:{place.lane}:{place.mac}")
    return cursor_saying("d:" + ":".join(place))


def _of_site(within: Scope, site: str | None) -> Scope:
    """The part of what the caller may see that is of this site; of another than its own: nothing."""
    if site is None or site == within.site:
        return within
    return replace(within, site=site) if within.site is None else replace(within, macs=frozenset())


def _prefix(req: falcon.Request) -> str:
    given = single(req, "mac")
    prefix = "" if given is None else prefix_of_mac(given)
    if prefix is None:
        raise invalid_parameter("mac", "must be the beginning of a MAC address: 1 to 12 hexadecimal digits")
    return prefix
