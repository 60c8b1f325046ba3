"""Dead letters over HTTP: listed in pages, shown, asked to be replayed, dropped; and everything that may be wrong."""

import json
import logging

import pytest

from models.dead_letters import Chosen
from models.replays import Replays
from models.statistics import Statistics
from pipeline.errors import DatabaseUnavailable
from pipeline.submission import TextSubmission
from tests.support.service import MAC, on_sqlite

PATH = "/api/dead-letters"
OTHER = "112233445566"


def die(service, task_id, mac=MAC, code="bad_image", state="failed"):
    service.intake().submit_text(TextSubmission(mac=mac, text="hello", task_id=task_id))
    service.ledger.start(task_id, 7, 3)
    service.ledger.end(task_id, 7, state, code, "why it died")
    service.clock.advance(1000)


def newest(service, task_id):
    return service.dead_letters.page(Chosen(task_id=task_id), before=None, limit=1)[0]


def get(service, path=PATH, query="", **parts):
    return service.http(**parts).simulate_get(path, query_string=query)


def delete(service, path=PATH, query=""):
    return service.http().simulate_delete(path, query_string=query)


def replay(service, body):
    return service.http().simulate_post(
        f"{PATH}/replay", body=json.dumps(body), headers={"Content-Type": "application/json"}
    )


def total(result):
    return result.json["total"], result.json["total_is_least"]


def listed(result):
    assert result.status_code == 200
    return [letter["task_id"] for letter in result.json["dead_letters"]]


def assert_refused(result, status, slug, *pointers):
    assert (result.status_code, result.json["type"]) == (status, f"/problems/{slug}")
    assert [error["pointer"] for error in result.json.get("errors", [])] == list(pointers)


@pytest.mark.feature("Q16")
def test_letters_are_listed_newest_first_and_shown_in_full(service):
    die(service, "a")
    die(service, "b")
    result = get(service)
    assert listed(result) == ["b", "a"]
    assert total(result) == (2, False)
    assert result.json["next"] is None
    letter = result.json["dead_letters"][1]
    assert letter == {
        "id": letter["id"],
        "task_id": "a",
        "mac": MAC,
        "site": "local",
        "lane": "text",
        "state": "failed",
        "code": "bad_image",
        "message": "why it died",
        "attempts": 3,
        "created_ms": service.clock.now_ms() - 2000,
        "dead_ms": service.clock.now_ms() - 2000,
        "replay_asked_ms": None,
        "replayed_ms": None,
        "replay_refusal": "",
    }
    shown = get(service, f"{PATH}/{letter['id']}").json
    assert shown == {**letter, "payload": {"text": "hello", "words": []}}


@pytest.mark.feature("Q16")
def test_next_leads_through_all_pages_of_a_filter(service):
    for number in range(5):
        die(service, f"t{number}")
    die(service, "other", mac=OTHER)
    seen, path, query = [], PATH, "mac=AA-BB-CC-DD-EE-FF&limit=2"
    while True:
        result = get(service, path, query)
        seen.append(listed(result))
        if result.json["next"] is None:
            break
        path, _, query = result.json["next"].partition("?")
        assert total(result) == (5, False)
    assert seen == [["t4", "t3"], ["t2", "t1"], ["t0"]]


@pytest.mark.feature("Q16")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"mac={OTHER}", ["b"]),
        ("code=bad_image", ["a"]),
        ("state=dead", ["b"]),
        ("lane=ocr", []),
        ("lane=text&task_id=a", ["a"]),
        ("older_than_ms=1760000001000", ["a"]),
        ("newer_than_ms=1760000001000", ["b"]),
    ],
)
def test_filters_choose(service, query, expected):
    die(service, "a")
    die(service, "b", mac=OTHER, code="engine_timeout", state="dead")
    assert listed(get(service, query=query)) == expected
    assert delete(service, query=f"{query}&dry_run=true").json == {"letters": len(expected), "dry_run": True}


@pytest.mark.feature("Q16")
def test_a_replay_is_counted_first_then_asked_for_once(service):
    die(service, "a")
    die(service, "b", mac=OTHER)
    body = {"filter": {"mac": "1122.3344.5566"}}
    dry = replay(service, {**body, "dry_run": True})
    assert (dry.status_code, dry.json) == (200, {"letters": 1, "dry_run": True})
    assert newest(service, "b").replay_asked_ms is None

    asked = replay(service, body)
    assert (asked.status_code, asked.json) == (202, {"letters": 1, "dry_run": False})
    assert newest(service, "b").replay_asked_ms == service.clock.now_ms()
    assert newest(service, "a").replay_asked_ms is None
    assert replay(service, {"all": True}).json["letters"] == 1
    assert replay(service, {"all": True}).json["letters"] == 0


@pytest.mark.feature("Q16")
def test_letters_are_told_apart_by_what_their_replay_has_come_to(service):
    for task_id in "abcd":
        die(service, task_id)
    replay(service, {"ids": [newest(service, task_id).id for task_id in "abc"]})
    replays = Replays(service.database, service.clock, Statistics(service.database, 0))
    first, second = replays.asked(passing_over=(), limit=2)
    replays.reopen(first, above_token=7, begun_ms=1)
    replays.refuse(second, "the line of its device is full")

    expected = {"open": ["d", "b"], "asked": ["c"], "replayed": ["a"], "refused": ["b"]}
    for state, letters in expected.items():
        result = get(service, query=f"replay={state}")
        assert (listed(result), total(result)) == (letters, (len(letters), False))
    assert replay(service, {"filter": {"replay": "refused"}}).json["letters"] == 1
    assert delete(service, query="replay=replayed").json["letters"] == 1
    assert listed(get(service)) == ["d", "c", "b"]


@pytest.mark.feature("Q16")
def test_a_total_says_when_it_is_only_the_least(service, monkeypatch):
    monkeypatch.setattr("models.dead_letters.TOTAL_MAX", 3)
    for number in range(4):
        die(service, f"t{number}")
    assert total(get(service, query="limit=1")) == (3, True)
    assert total(get(service, query="limit=1&mac=112233445566")) == (0, False)


@pytest.mark.feature("Q16")
def test_a_replay_by_ids(service):
    for task_id in "abc":
        die(service, task_id)
    ids = [newest(service, "a").id, newest(service, "c").id]
    assert replay(service, {"ids": ids}).json["letters"] == 2
    assert newest(service, "b").replay_asked_ms is None
    assert_refused(replay(service, {"ids": [ids[0], 999_999]}), 422, "validation-failed", "/ids/1")


@pytest.mark.feature("Q16")
def test_letters_are_dropped_by_id_by_filter_or_all(service):
    for task_id in "abc":
        die(service, task_id)
    die(service, "d", mac=OTHER)
    path = f"{PATH}/{newest(service, 'a').id}"
    assert delete(service, path).json == {"letters": 1, "dry_run": False}
    assert_refused(delete(service, path), 404, "not-found")
    assert_refused(get(service, path), 404, "not-found")
    assert delete(service, query=f"mac={MAC}").json["letters"] == 2
    assert listed(get(service)) == ["d"]
    assert delete(service, query="all=true").json["letters"] == 1
    assert listed(get(service)) == []


@pytest.mark.feature("Q16")
@on_sqlite
def test_each_wish_leaves_a_line_in_the_business_log(service, caplog):
    die(service, "a")
    with caplog.at_level(logging.INFO, "pipeline.dead_letters"):
        replay(service, {"filter": {"mac": MAC}})
        delete(service, query="code=bad_image")
    lines = [(line.message, line.chosen, line.letters) for line in caplog.records if hasattr(line, "chosen")]
    assert lines == [
        ("a replay was asked for", {"mac": MAC}, 1),
        ("dead letters were dropped", {"code": "bad_image"}, 1),
    ]


@on_sqlite
@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        ("mac=nonsense", ["mac"]),
        ("lane=fax&state=queued", ["lane", "state"]),
        ("replay=perhaps", ["replay"]),
        ("code=Bad%20Image", ["code"]),
        ("task_id=a%00b", ["task_id"]),
        ("older_than_ms=yesterday", ["older_than_ms"]),
        ("newer_than_ms=-5", ["newer_than_ms"]),
        ("newer_than_ms=99999999999999999999", ["newer_than_ms"]),
        (f"mac={MAC}&mac={OTHER}", ["mac"]),
        ("before=x", ["before"]),
        ("before=1&before=2", ["before"]),
        ("limit=0", ["limit"]),
        ("limit=201", ["limit"]),
    ],
)
def test_a_parameter_that_is_not_valid_is_named(service, query, pointers):
    assert_refused(get(service, query=query), 400, "invalid-parameter", *pointers)


@on_sqlite
def test_a_parameter_that_is_not_known_is_refused(service):
    assert_refused(get(service, query="device=x"), 400, "unknown-parameter")
    assert_refused(delete(service, query="everything=true"), 400, "unknown-parameter")


@on_sqlite
@pytest.mark.parametrize(
    ("query", "pointer"),
    [("", "all"), ("all=false", "all"), (f"all=true&mac={MAC}", "all"), ("all=1", "all"), ("dry_run=yes", "dry_run")],
)
def test_nothing_is_dropped_unless_it_is_said_what(service, query, pointer):
    die(service, "a")
    assert_refused(delete(service, query=query), 400, "invalid-parameter", pointer)
    assert listed(get(service)) == ["a"]


@on_sqlite
@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, [""]),
        ({"all": False}, [""]),
        ({"filter": {}}, [""]),
        ({"filter": {"mac": None}}, [""]),
        ({"ids": [1], "all": True}, [""]),
        ({"ids": []}, ["/ids"]),
        ({"ids": ["1"]}, ["/ids/0"]),
        ({"ids": [0]}, ["/ids/0"]),
        ({"ids": [2**63]}, ["/ids/0"]),
        ({"ids": [1] * 1001}, ["/ids"]),
        ({"filter": {"mac": "x", "lane": "fax"}}, ["/filter/mac", "/filter/lane"]),
        ({"filter": {"device": "x"}}, ["/filter/device"]),
        ({"filter": {"replay": "none"}}, ["/filter/replay"]),
        ({"all": "yes"}, ["/all"]),
        ({"all": True, "dry_run": 1}, ["/dry_run"]),
        ([], [""]),
    ],
)
def test_a_replay_of_who_knows_what_is_refused(service, body, pointers):
    die(service, "a")
    result = replay(service, body)
    assert (result.status_code, result.json["type"]) == (422, "/problems/validation-failed")
    assert [error["pointer"] for error in result.json["errors"]] == pointers
    assert newest(service, "a").replay_asked_ms is None


@on_sqlite
@pytest.mark.parametrize("letter_id", ["0", "nonsense", "-1", "99999999999999999999", "1%00"])
def test_an_id_that_nobody_has_is_not_found(service, letter_id):
    assert_refused(get(service, f"{PATH}/{letter_id}"), 404, "not-found")
    assert_refused(delete(service, f"{PATH}/{letter_id}"), 404, "not-found")


@on_sqlite
def test_a_silent_database_is_a_503(service):
    class Silent(type(service.dead_letters)):
        def page(self, *args, **options):
            raise DatabaseUnavailable("page: no answer from 10.1.2.3")

    result = get(service, dead_letters=Silent(service.database, service.clock))
    assert_refused(result, 503, "dependency-unavailable")
    assert "10.1.2.3" not in result.text
