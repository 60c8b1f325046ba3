"""What is not yours is not there; what your role does not do is forbidden. Every route is asked."""

import json
import logging

import pytest

from models.dead_letters import Chosen
from models.keys import ROLES
from models.word_lists import Owner
from pipeline.mac import normalize_mac
from pipeline.submission import TextSubmission
from tests.support.announcements import announce
from tests.support.callers import guest
from tests.support.service import MAC, on_sqlite

OTHER_MAC = "112233445566"
NORTH, SOUTH = "north", "south"


@pytest.fixture
def towns(service):
    """Two sites, with an admin each."""
    return guest(service, site=NORTH), guest(service, site=SOUTH)


def submit(service, site, task_id, mac=MAC):
    service.intake().submit_text(TextSubmission(mac=mac, text="x", task_id=task_id, site=site))
    return task_id


def bury(service, site, task_id, mac=MAC):
    """A dead letter; its id."""
    submit(service, site, task_id, mac)
    service.ledger.close(task_id, "dead", "engine_timeout", "too slow")
    (letter,) = service.dead_letters.page(Chosen(task_id=task_id), before=None, limit=9)
    return letter.id


def operations(service):
    """(method, path, operation) of everything that the service describes."""
    description = service.http().simulate_get("/openapi.json").json
    return [
        (method.upper(), path, operation)
        for path, item in description["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


@pytest.mark.feature("H3")
def test_the_ids_of_another_site_are_not_found_on_any_route(service, towns):
    north, south = towns
    list_id = service.library.shelf.create(Owner(NORTH), "own").id
    ids = {"task_id": submit(service, NORTH, "t1"), "letter_id": bury(service, NORTH, "t2"), "list_id": list_id}
    ids |= {"delivery_id": announce(service, "t3", site=NORTH), "mac": MAC}
    unknown = {**dict.fromkeys(ids, 999_999), "task_id": "nowhere", "mac": OTHER_MAC}
    asked = 0
    for method, path, _ in operations(service):
        if "{" not in path:
            continue
        theirs = south.ask(method, path.format(**ids, version=1))
        nobodys = south.ask(method, path.format(**unknown, version=1))
        assert theirs.status_code == nobodys.status_code == 404, (method, path)
        assert same(theirs) == same(nobodys)
        asked += 1
    assert asked >= 4
    assert service.ledger.get("t1").state == "queued"
    assert north.ask("GET", "/api/ocr/tasks/t1").status_code == 200


@pytest.mark.feature("H3")
@on_sqlite
@pytest.mark.parametrize("path", ["/api/ocr/tasks/{}", "/api/dead-letters/{}"])
def test_a_foreign_task_costs_the_database_what_an_unknown_one_does(service, towns, caplog, path):
    _, south = towns
    letter_id = bury(service, NORTH, "7001")
    south.ask("GET", "/api/audit")  # the key is known now
    caplog.set_level(logging.DEBUG, logger="peewee")
    statements = []
    for known, unknown in (("7001", "7002"), (letter_id, 999_999)):
        for thing in (known, unknown):
            caplog.clear()
            assert south.ask("GET", path.format(thing)).status_code == 404
            statements.append([record.args or record.msg[0] for record in caplog.records if record.name == "peewee"])
    assert statements[0] == statements[1] != []
    assert statements[2] == statements[3] != []


def same(result):
    """An answer without what differs between any two requests."""
    volatile = ("instance", "request_id")
    headers = {name: value for name, value in result.headers.items() if name not in ("x-request-id", "ratelimit")}
    return {name: value for name, value in result.json.items() if name not in volatile}, headers


@pytest.mark.feature("H3")
def test_what_a_role_does_not_do_is_forbidden_on_every_route(service):
    guests = {role: guest(service, role, NORTH) for role in ROLES}
    for method, path, operation in operations(service):
        if not operation["security"]:
            continue
        address = path.format(mac=MAC, task_id="t1", letter_id=1, list_id=1, delivery_id=1, version=1)
        for role, somebody in guests.items():
            result = somebody.ask(method, address, json={} if method in ("POST", "PUT", "PATCH") else None)
            if role in operation["x-roles"]:
                assert result.status_code != 401, (method, path, role)
            else:
                assert (result.status_code, result.json["type"]) == (403, "/problems/forbidden"), (method, path, role)
        assert service.http().simulate_request(method, address).status_code == 401, (method, path)


@on_sqlite
def test_what_all_sites_share_is_shown_only_with_a_key_of_every_site(service):
    of_one, of_all = guest(service, "admin", NORTH), guest(service, "viewer", "*")
    bound = guest(service, "viewer", "*", macs=(MAC,))
    for path in ("/api/queue", "/api/workers"):
        assert of_one.ask("GET", path).status_code == 403
        assert bound.ask("GET", path).status_code == 403
        assert of_all.ask("GET", path).status_code == 200


@pytest.mark.feature("H3")
def test_a_submit_lands_in_the_site_of_its_key(service):
    device = guest(service, "device", NORTH)
    assert device.ask("POST", "/api/ocr/text", json={"mac": MAC, "text": "x", "task_id": "t1"}).status_code == 202
    report = {"mac": MAC, "detection_id": "d1"}
    assert device.ask("POST", "/api/decter", json=report).status_code == 201
    image = device.ask("POST", "/api/ocr/image", body=b"x", headers={"Content-Type": "image/png"}, params={"mac": MAC})
    assert image.status_code in (415, 422)
    assert service.ledger.get("t1").site == NORTH
    assert guest(service, "device", SOUTH).ask("POST", "/api/decter", json=report).status_code == 201


@pytest.mark.feature("H3")
def test_two_sites_with_one_mac_have_two_lines(service_of):
    service = service_of(max_per_mac_pending=2, max_total_pending=100)
    north, south = guest(service, "device", NORTH), guest(service, "device", SOUTH)
    for _ in range(2):
        assert north.ask("POST", "/api/ocr/text", json={"mac": MAC, "text": "x"}).status_code == 202
    assert north.ask("POST", "/api/ocr/text", json={"mac": MAC, "text": "x"}).status_code == 429
    assert south.ask("POST", "/api/ocr/text", json={"mac": MAC, "text": "x"}).json["position"] == 1
    sites = [service.queue.claim("text")[0].site for _ in range(3)]
    assert sorted(sites) == [NORTH, NORTH, SOUTH]
    assert all(books.balances for books in service.inspector.audit())


@pytest.mark.feature("H3")
def test_a_key_that_is_bound_to_devices_speaks_for_these_only(service):
    device = guest(service, "device", NORTH, macs=(MAC,))
    submit(service, NORTH, "theirs", OTHER_MAC)
    foreign = {"mac": OTHER_MAC, "text": "x", "detection_id": "d"}
    for path, body in (
        ("/api/ocr/text", {"mac": OTHER_MAC, "text": "x"}),
        ("/api/decter", {"mac": OTHER_MAC, "detection_id": "d"}),
    ):
        result = device.ask("POST", path, json=body)
        assert (result.status_code, result.json["type"]) == (403, "/problems/device-mismatch")
    raw = device.ask(
        "POST", "/api/ocr/image", body=b"x", headers={"Content-Type": "image/png"}, params={"mac": OTHER_MAC}
    )
    assert raw.status_code == 403
    assert device.ask("GET", "/api/ocr/tasks/theirs").status_code == 404
    assert device.ask("DELETE", "/api/ocr/tasks/theirs").status_code == 404
    assert device.ask("POST", "/api/ocr/text", json={"mac": "AA-BB-CC-DD-EE-FF", "text": "x"}).status_code == 202
    assert normalize_mac(foreign["mac"]) == OTHER_MAC
    assert service.row_ids() == [*sorted(set(service.row_ids()))]
    assert len(service.row_ids()) == 2


@pytest.mark.feature("H3")
def test_a_batch_is_accepted_only_for_devices_of_the_key(service):
    device = guest(service, "device", NORTH, macs=(MAC,))
    tasks = [{"mac": MAC, "text": "x"}, {"mac": OTHER_MAC, "text": "x"}, {"mac": MAC.upper(), "text": "y"}]
    result = device.ask("POST", "/api/ocr/text", json={"tasks": tasks})
    assert [item["status"] for item in result.json["results"]] == [202, 403, 202]
    assert result.json["results"][1]["problem"]["type"] == "/problems/device-mismatch"


@pytest.mark.feature("H3")
def test_dead_letters_of_another_site_are_neither_listed_replayed_nor_dropped(service, towns):
    north, south = towns
    mine, theirs = bury(service, SOUTH, "s1"), bury(service, NORTH, "n1")
    listed = south.ask("GET", "/api/dead-letters").json["dead_letters"]
    assert [letter["id"] for letter in listed] == [mine]
    assert south.ask("GET", "/api/dead-letters", params={"task_id": "n1"}).json["dead_letters"] == []
    assert south.ask("GET", "/api/dead-letters", params={"before": str(theirs + 1)}).json["dead_letters"] == listed
    replay = "/api/dead-letters/replay"
    assert south.ask("POST", replay, json={"ids": [theirs]}).status_code == 422
    for choice in ({"all": True}, {"filter": {"mac": MAC}}, {"filter": {"code": "engine_timeout"}}):
        assert south.ask("POST", replay, json={**choice, "dry_run": True}).json["letters"] == 1
    assert south.ask("POST", replay, json={"all": True}).json["letters"] == 1
    assert south.ask("DELETE", "/api/dead-letters", params={"all": "true"}).json["letters"] == 1
    letter = service.dead_letters.get(theirs)
    assert letter is not None
    assert letter.replay_asked_ms is None
    assert north.ask("GET", "/api/dead-letters").json["dead_letters"][0]["id"] == theirs


def test_dead_letters_of_other_devices_are_hidden_from_a_bound_key(service):
    viewer = guest(service, "operator", NORTH, macs=(OTHER_MAC,))
    bury(service, NORTH, "n1")
    mine = bury(service, NORTH, "n2", OTHER_MAC)
    assert [letter["id"] for letter in viewer.ask("GET", "/api/dead-letters").json["dead_letters"]] == [mine]
    assert viewer.ask("DELETE", "/api/dead-letters", params={"mac": MAC}).json["letters"] == 0


@on_sqlite
def test_the_page_after_a_page_of_one_site_stays_in_it(service, towns):
    north, south = towns
    for number in range(3):
        bury(service, NORTH, f"n{number}")
        bury(service, SOUTH, f"s{number}")
    first = north.ask("GET", "/api/dead-letters", params={"limit": "2"}).json
    path, _, query = first["next"].partition("?")
    page = south.ask("GET", path, query_string=query).json["dead_letters"]
    assert {letter["site"] for letter in page} == {SOUTH}
    assert NORTH not in first["next"]


@on_sqlite
def test_a_task_id_that_another_site_uses_tells_nothing_but_that_it_is_taken(service):
    south, _ = guest(service, "device", SOUTH), guest(service, "device", NORTH)
    submit(service, NORTH, "t1")
    result = south.ask("POST", "/api/ocr/text", json={"mac": MAC, "text": "x", "task_id": "t1"})
    assert (result.status_code, result.json["type"]) == (409, "/problems/task-conflict")
    assert NORTH not in result.text


def test_a_device_key_may_cancel_its_own_task_and_a_viewer_may_not(service):
    device, viewer = guest(service, "device", NORTH, macs=(MAC,)), guest(service, "viewer", NORTH)
    submit(service, NORTH, "t1")
    assert viewer.ask("DELETE", "/api/ocr/tasks/t1").status_code == 403
    assert device.ask("DELETE", "/api/ocr/tasks/t1").json["state"] == "cancelled"


@pytest.mark.feature("H3")
def test_each_change_is_a_line_of_the_audit(service, towns):
    north, south = towns
    bury(service, NORTH, "n1")
    submit(service, NORTH, "n2")
    north.ask("POST", "/api/dead-letters/replay", json={"filter": {"code": "engine_timeout"}})
    north.ask("DELETE", "/api/ocr/tasks/n2")
    south.ask("DELETE", "/api/ocr/tasks/n2")
    lines = guest(service, site="*").ask("GET", "/api/audit").json["lines"]
    assert [(line["actor"], line["site"], line["outcome"]) for line in lines] == [
        (f"key:{south.key.key_id}", SOUTH, "404"),
        (f"key:{north.key.key_id}", NORTH, "200"),
        (f"key:{north.key.key_id}", NORTH, "202"),
    ]
    assert lines[1]["action"] == "DELETE /api/ocr/tasks/{task_id}"
    assert lines[1]["target"] == "/api/ocr/tasks/n2"
    assert json.loads(lines[2]["target"].partition(" ")[2]) == {"code": "engine_timeout", "dry_run": False}
    assert [line["site"] for line in south.ask("GET", "/api/audit").json["lines"]] == [SOUTH]


@pytest.mark.feature("H3")
def test_lists_and_exports_hold_what_is_of_the_site_only(service, towns):
    north, south = towns
    submit(service, NORTH, "n1")
    submit(service, NORTH, "n2")
    submit(service, SOUTH, "s1")
    tasks = "/api/ocr/tasks"
    assert [task["task_id"] for task in south.ask("GET", tasks).json["tasks"]] == ["s1"]
    assert [task["task_id"] for task in south.ask("GET", tasks, params={"mac": MAC}).json["tasks"]] == ["s1"]
    for kind in ("csv", "jsonl"):
        text = south.ask("GET", tasks, params={"format": kind}).text
        assert "s1" in text
        assert "n1" not in text
    further = north.ask("GET", tasks, params={"limit": "1"}).json["next"]
    path, _, query = further.partition("?")
    assert {task["task_id"] for task in south.ask("GET", path, query_string=query).json["tasks"]} <= {"s1"}
    bound = guest(service, "viewer", NORTH, macs=(OTHER_MAC,))
    assert bound.ask("GET", tasks).json["tasks"] == []
    assert len(guest(service, "viewer", "*").ask("GET", tasks).json["tasks"]) == 3
    device = guest(service, "device", NORTH)
    assert device.ask("GET", tasks).status_code == device.ask("HEAD", tasks).status_code == 403


def test_an_idempotency_key_is_of_its_site(service, towns):
    again = {"Idempotency-Key": "k1"}
    body = {"mac": MAC, "text": "x"}
    ids = [one.ask("POST", "/api/ocr/text", json=body, headers=again).json["task_id"] for one in (*towns, *towns)]
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]
