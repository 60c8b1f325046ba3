"""Deliveries over HTTP: a callback taken or refused, listed in pages, shown, made again; and everything wrong."""

import json

import pytest

from models.deliveries import ChosenDeliveries
from tests.support.announcements import CALLBACK as URL
from tests.support.announcements import announce
from tests.support.callers import guest
from tests.support.service import MAC, on_sqlite
from tests.support.uploads import FORM, IMAGE_PART, IMAGE_PATH, JSON, MAC_PART, PNG, form, json_body, part

PATH = "/api/deliveries"
OTHER = "112233445566"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def signing(service_of):
    """A service that can sign announcements."""
    return service_of(webhook_secrets=SECRET)


def states(service):
    return {row.task_id: row.state for row in service.deliveries.page(ChosenDeliveries(), before=None, limit=99)}


def listed(result):
    assert result.status_code == 200
    return [delivery["task_id"] for delivery in result.json["deliveries"]]


def get(service, query="", path=PATH):
    return service.http().simulate_get(path, query_string=query)


def replay(service, body):
    return service.http().simulate_post(f"{PATH}/replay", json=body)


def callback_of(service, result):
    assert result.status_code == 202, result.json
    return service.ledger.get(result.json["task_id"]).callback_url


@on_sqlite
@pytest.mark.feature("R4")
@pytest.mark.parametrize("way", ["text", "image json", "form", "raw"])
def test_a_callback_is_taken_with_every_kind_of_submit(signing, way):
    callback = part("callback_url", URL)
    requests = {
        "text": ("/api/ocr/text", json.dumps({"mac": MAC, "text": "x", "callback_url": URL}), JSON, {}),
        "image json": (IMAGE_PATH, json_body(callback_url=URL), JSON, {}),
        "form": (IMAGE_PATH, form(MAC_PART, callback, IMAGE_PART), FORM, {}),
        "raw": (IMAGE_PATH, PNG, {"Content-Type": "image/png"}, {"mac": MAC, "callback_url": URL}),
    }
    path, body, headers, query = requests[way]
    result = signing.http().simulate_post(path, body=body, headers=headers, params=query)

    assert callback_of(signing, result) == URL


@on_sqlite
@pytest.mark.feature("R4")
@pytest.mark.parametrize(
    ("url", "detail"),
    [
        ("http://receiver.example/", "must be an https:// URL"),
        ("https://127.0.0.1/", "names an address that is not a public address"),
        ("https://me:pw@receiver.example/", "must hold no user name or password"),
        ("https://receiver.example:25/", "must name port 80, 443 or one from 1024 on"),
        ("nonsense", "must be an https:// URL"),
    ],
)
def test_a_callback_of_no_use_is_refused_by_name_and_nothing_is_stored(signing, url, detail):
    result = signing.http().simulate_post("/api/ocr/text", json={"mac": MAC, "text": "x", "callback_url": url})

    assert (result.status_code, result.json["errors"]) == (422, [{"pointer": "/callback_url", "detail": detail}])
    assert signing.row_ids() == []


@on_sqlite
@pytest.mark.feature("R4")
def test_without_a_secret_no_callback_is_taken(service):
    result = service.http().simulate_post("/api/ocr/text", json={"mac": MAC, "text": "x", "callback_url": URL})

    assert result.status_code == 422
    assert result.json["errors"][0]["pointer"] == "/callback_url"


@on_sqlite
def test_the_same_task_with_another_callback_is_another_task(signing):
    def submit(**more):
        return signing.http().simulate_post("/api/ocr/text", json={"mac": MAC, "text": "x", "task_id": "t1", **more})

    assert submit(callback_url=URL).status_code == 202
    assert submit(callback_url=URL).json["is_duplicate"]
    assert submit(callback_url=URL + "2").status_code == submit().status_code == 409


@pytest.mark.feature("R4")
def test_deliveries_are_listed_newest_first_and_shown_in_full_without_the_query_of_the_url(service):
    announce(service, "a", state="failed")
    announce(service, "b")
    result = get(service)

    assert listed(result) == ["b", "a"]
    failed = result.json["deliveries"][1]
    named = {name: failed[name] for name in ("message_id", "type", "state", "attempts", "last_status", "error", "url")}
    assert named == {
        "message_id": "msg_a_callback_1",
        "type": "task.hit",
        "state": "failed",
        "attempts": 1,
        "last_status": 410,
        "error": "the receiver is gone for good",
        "url": "https://receiver.example/hook",
    }
    shown = get(service, path=f"{PATH}/{failed['id']}").json
    assert json.loads(shown.pop("body"))["data"]["task_id"] == "a"
    assert shown == failed
    assert "sesame" not in result.text


def test_filters_combine_and_pages_follow_each_other(service):
    announce(service, "a", state="failed")
    announce(service, "b", mac=OTHER, state="failed")
    announce(service, "c", state="delivered")
    announce(service, "d", state="failed")

    assert listed(get(service, "state=failed")) == ["d", "b", "a"]
    assert listed(get(service, "state=failed&mac=AA-BB-CC-DD-EE-FF")) == ["d", "a"]
    assert listed(get(service, "task_id=c")) == ["c"]
    first = get(service, "state=failed&limit=2")
    assert listed(first) == ["d", "b"]
    rest = get(service, first.json["next"].partition("?")[2])
    assert (listed(rest), rest.json["next"]) == (["a"], None)


@on_sqlite
@pytest.mark.parametrize(
    "query",
    ["state=lost", "mac=x", "task_id=a.b", "limit=0", "limit=201", "before=x", "state=failed&state=failed", "x=1"],
)
def test_a_query_that_makes_no_sense_is_refused(service, query):
    assert get(service, query).status_code == 400


@on_sqlite
@pytest.mark.parametrize("delivery_id", ["999", "x", "0", "9" * 40])
def test_an_unknown_delivery_is_not_found(service, delivery_id):
    assert get(service, path=f"{PATH}/{delivery_id}").status_code == 404


@pytest.mark.feature("R4")
def test_a_replay_means_what_failed_unless_more_is_named(service):
    ids = {state: announce(service, state, state=state) for state in ("pending", "failed", "delivered")}

    assert replay(service, {"all": True, "dry_run": True}).json == {"deliveries": 1, "dry_run": True}
    assert replay(service, {"filter": {"mac": MAC}, "dry_run": True}).json["deliveries"] == 1
    assert replay(service, {"filter": {"state": "delivered"}, "dry_run": True}).json["deliveries"] == 1
    assert replay(service, {"ids": list(ids.values()), "dry_run": True}).json["deliveries"] == 2
    assert states(service) == {state: state for state in ids}
    result = replay(service, {"all": True})
    assert (result.status_code, result.json) == (202, {"deliveries": 1, "dry_run": False})
    assert states(service) == {"pending": "pending", "failed": "pending", "delivered": "delivered"}
    assert replay(service, {"ids": [ids["delivered"]]}).json["deliveries"] == 1


@on_sqlite
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"all": True, "ids": [1]}, ""),
        ({"filter": {}}, ""),
        ({"filter": {"state": "lost"}}, "/filter/state"),
        ({"ids": [999]}, "/ids/0"),
        ({"ids": []}, "/ids"),
        ({"all": True, "token": "x"}, "/token"),
    ],
)
def test_a_replay_that_makes_no_sense_is_refused_with_its_place(service, body, pointer):
    result = replay(service, body)

    assert (result.status_code, result.json["errors"][0]["pointer"]) == (422, pointer)


@pytest.mark.feature("H3")
def test_a_site_sees_and_replays_its_own_deliveries_only(service):
    north, south = guest(service, "operator", "north"), guest(service, "operator", "south")
    theirs, mine = announce(service, "n1", site="north", state="failed"), announce(service, "s1", site="south")

    assert listed(south.ask("GET", PATH)) == ["s1"]
    assert listed(south.ask("GET", PATH, params={"task_id": "n1"})) == []
    assert south.ask("GET", f"{PATH}/{theirs}").status_code == 404
    assert south.ask("POST", f"{PATH}/replay", json={"ids": [mine, theirs]}).json["errors"][0]["pointer"] == "/ids/1"
    assert south.ask("POST", f"{PATH}/replay", json={"all": True}).json["deliveries"] == 0
    assert states(service)["n1"] == "failed"
    assert north.ask("POST", f"{PATH}/replay", json={"all": True}).json["deliveries"] == 1
    assert guest(service, "viewer", "north").ask("POST", f"{PATH}/replay", json={"all": True}).status_code == 403
    assert guest(service, "device", "north").ask("GET", PATH).status_code == 403
    line = guest(service, site="*").ask("GET", "/api/audit").json["lines"]
    assert json.loads(next(one for one in line if one["outcome"] == "202")["target"].partition(" ")[2]) == {
        "dry_run": False
    }
