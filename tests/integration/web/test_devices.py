"""Devices over HTTP: listed by how long they wait, found by MAC; of one's own site only."""

import pytest

from models.sites import line_of
from pipeline.queue import Task
from tests.support.callers import guest
from tests.support.devices import DEVICES, listed, mac_of, patch, submit
from tests.support.service import MAC, on_sqlite

NORTH, SOUTH = "north", "south"
OTHER_MAC = "112233445566"


@pytest.fixture
def operator(service):
    return guest(service, "operator", "*")


@pytest.mark.feature("Q6", "Q18")
def test_a_device_is_shown_with_its_lines_and_what_is_set_for_it(service, operator):
    submit(service, MAC, 3)
    service.queue.claim("text")
    service.clock.advance(40_000)
    shown = operator.ask("GET", f"{DEVICES}/AA-BB-CC-DD-EE-FF").json
    text = shown.pop("lanes")["text"]
    seen = [shown.pop(name) for name in ("first_seen_ms", "last_seen_ms")]
    assert seen == [service.clock.now_ms() - 41_000] * 2
    assert shown == {
        "mac": MAC,
        "site": "local",
        "weight": 1.0,
        "max_inflight": None,
        "rate_per_minute": None,
        "paused": False,
        "waiting": 2,
        "in_flight": 1,
        "pending": 3,
        "oldest_wait_ms": 41_000,
        "starved": True,
    }
    assert text == {
        "waiting": 2,
        "in_flight": 1,
        "oldest_wait_ms": 41_000,
        "score": 41.0,
        "starved": True,
        "paused": False,
        "gate": None,
        "gate_opens_ms": None,
        "backoff_until_ms": None,
        "share": None,
        "due_share": 1.0,
    }


def test_a_device_that_only_ever_reported_is_found_too(service, operator):
    device = guest(service, "device")
    assert device.ask("POST", "/api/decter", json={"mac": MAC, "detection_id": "d"}).status_code == 201
    shown = operator.ask("GET", f"{DEVICES}/{MAC}").json
    assert (shown["waiting"], shown["oldest_wait_ms"], shown["lanes"]["ocr"]["due_share"]) == (0, None, None)
    assert listed(operator) == []
    assert listed(operator, show="all") == listed(operator, mac="AA:BB", show="all") == [MAC]


@pytest.mark.feature("Q6")
def test_those_that_wait_longest_come_first_page_after_page(service, operator):
    for number in (3, 1, 2, 0):
        submit(service, mac_of(number))
    order = [mac_of(number) for number in (3, 1, 2, 0)]
    assert listed(operator) == listed(operator, limit="1") == listed(operator, limit="3", lane="text") == order
    assert listed(operator, lane="ocr") == []
    assert listed(operator, show="starved") == []
    service.clock.advance(27_500)
    assert listed(operator, show="starved", limit="1") == order[:2]


@pytest.mark.feature("Q6")
def test_those_that_wait_are_sorted_by_tasks_or_by_share(service, operator):
    for number in (1, 3, 2):
        submit(service, mac_of(number), number)
    assert listed(operator, sort="waiting", limit="2") == [mac_of(3), mac_of(2)]
    first = operator.ask("GET", DEVICES, params={"sort": "waiting", "limit": "2"}).json
    assert (first["next"], first["has_more"]) == (None, True)
    for claim in [service.queue.claim("text")[0] for _ in range(3)]:
        service.queue.complete(claim.task_id, claim.token, cost_ms=9_000 if claim.mac == mac_of(2) else 10)
    answer = operator.ask("GET", DEVICES, params={"sort": "share"}).json
    assert answer["devices"][0]["mac"] == mac_of(2)
    assert answer["devices"][0]["lanes"]["text"]["share"] > 0.9
    assert answer["has_more"] is False


def test_a_beginning_of_a_mac_finds_devices_with_and_without_work(service, operator):
    for mac in ("aa0000000001", "ab0000000001", "aa0000000002"):
        submit(service, mac)
    service.queue.claim("text")
    assert listed(operator, mac="aa:0", show="all", limit="1") == ["aa0000000001", "aa0000000002"]
    assert listed(operator, mac="AA") == ["aa0000000002"]
    assert listed(operator, show="all") == ["aa0000000001", "aa0000000002", "ab0000000001"]
    assert listed(operator, mac="ff", show="all") == []


@on_sqlite
@pytest.mark.parametrize(
    "query",
    [
        *("show=some", "lane=fax", "sort=mac", "mac=", "mac=xyz", "mac=aabbccddeeff0", "limit=0", "limit=201"),
        *("cursor=x", "cursor=ZDp4", "site=%2A", "site=A", "sort=share&mac=a", "sort=waiting&show=all", "mac=a&mac=b"),
        *("unknown=1", "sort=share&cursor=ZDphYWJiY2NkZGVlZmY6bG9jYWw=", "cursor=ZDphYWJiY2NkZGVlZmY6bG9jYWw="),
    ],
)
def test_a_wrong_query_is_refused(operator, query):
    assert operator.ask("GET", DEVICES, query_string=query).status_code == 400


@on_sqlite
@pytest.mark.parametrize(
    "mac", ["aabbccddee0", "aabbccddeefg", "*", "%00", "aabbccddeeff@north", "%EF%BC%91%EF%BC%91bbccddeeff", OTHER_MAC]
)
def test_a_device_that_is_none_is_not_found(service, operator, mac):
    submit(service, MAC)
    for result in (operator.ask("GET", f"{DEVICES}/{mac}"), patch(operator, {"paused": True}, mac)):
        assert (result.status_code, result.json["type"]) == (404, "/problems/not-found")


@pytest.mark.feature("H3")
def test_two_sites_with_one_mac_rule_their_own_device_only(service, operator):
    north, south = guest(service, "operator", NORTH), guest(service, "operator", SOUTH)
    for mac, site in ((MAC, NORTH), (MAC, SOUTH), (OTHER_MAC, NORTH)):
        submit(service, mac, site=site)
    assert patch(south, {"paused": True}).json["site"] == SOUTH
    assert north.ask("GET", f"{DEVICES}/{MAC}").json["paused"] is False
    assert listed(south) == listed(south, show="all") == listed(south, show="paused") == [MAC]
    assert listed(north) == listed(north, limit="1") == [MAC, OTHER_MAC]
    assert listed(north, show="paused") == listed(north, show="all", site=SOUTH) == listed(south, site=NORTH) == []
    assert south.ask("GET", f"{DEVICES}/{MAC}", params={"site": NORTH}).status_code == 404
    assert patch(south, {"paused": True}, OTHER_MAC).status_code == 404
    doubtful = patch(operator, {"paused": True})
    assert (doubtful.status_code, doubtful.json["type"]) == (400, "/problems/device-ambiguous")
    assert patch(operator, {"weight": 4}, params={"site": NORTH}).json["site"] == NORTH
    assert len(listed(operator)) == len(listed(operator, limit="1", show="all")) == 3
    assert listed(operator, site=NORTH, mac="aa") == [MAC]
    assert [claim.site for _ in range(3) for claim in service.queue.claim("text")] == [NORTH, NORTH]


@pytest.mark.feature("H3")
def test_a_bound_key_sees_and_rules_its_devices_only(service):
    bound = guest(service, "operator", NORTH, macs=(MAC,))
    submit(service, MAC, site=NORTH)
    submit(service, OTHER_MAC, site=NORTH)
    assert listed(bound) == listed(bound, show="all") == listed(bound, mac="aa") == [MAC]
    assert patch(bound, {"paused": True}).status_code == 200
    assert patch(bound, {"paused": True}, OTHER_MAC).status_code == 404
    assert listed(bound, site=SOUTH, show="all") == []


@pytest.mark.feature("Q20")
@on_sqlite
def test_the_list_of_a_site_does_not_pay_for_the_devices_of_others(service):
    north = guest(service, "viewer", NORTH)
    for number in range(60):
        mac = line_of(SOUTH, mac_of(number))
        service.queue.enqueue(Task(f"o{number}", "text", mac, 1, site=SOUTH))
    submit(service, MAC, site=NORTH)
    service.client.config_resetstat()
    assert listed(north) == [MAC]
    calls = service.client.info("commandstats")
    assert not {"cmdstat_scan", "cmdstat_keys"} & set(calls)
    assert sum(each["calls"] for each in calls.values()) < 60
