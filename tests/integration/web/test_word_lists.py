"""Lists of words over HTTP."""

import json
from typing import Any

import pytest

from models.word_lists import EVERYBODY
from tests.support.callers import guest
from tests.support.service import MAC, on_sqlite

JSON = {"Content-Type": "application/json"}
TEXT = {"Content-Type": "text/plain"}


class Words:
    """The lists of a service, spoken to over HTTP."""

    def __init__(self, service: Any) -> None:
        self._http, self._lists = service.http(), service.lists

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        data = None if body is None else json.dumps(body)
        result = self._http.simulate_request(method, path, body=data, headers=JSON if body is not None else None)
        assert result.status_code == status, result.text
        return result.json if result.text else None

    def put(self, list_id: int, data: bytes, content_type: str = "text/plain", status: int = 200) -> Any:
        headers = {"Content-Type": content_type}
        result = self._http.simulate_put(f"/api/words/{list_id}?source=a.txt", body=data, headers=headers)
        assert result.status_code == status, result.text
        return result.json

    def publish(self, word: str, **owner: str) -> int:
        list_id = int(self.ask("POST", "/api/words", {"name": "own", **owner})["id"])
        self.put(list_id, word.encode())
        self.ask("POST", f"/api/words/{list_id}/publish", {})
        return list_id

    def found(self, text: str, **whose: str) -> list[tuple[str, str, str]]:
        """What a try-out finds once the change of lists has been noticed."""
        self._lists.refresh()
        hits = self.ask("POST", "/api/words/try", {"text": text, **whose})["hits"]
        return [(hit["word"], hit["list"], hit["list_name"]) for hit in hits]


@pytest.fixture
def words(service: Any) -> Words:
    return Words(service)


@pytest.mark.feature("D6")
def test_a_list_goes_from_draft_to_effect_and_back(words: Words) -> None:
    made = words.ask("POST", "/api/words", {"name": "house"})
    assert (made["scope"], made["latest"], made["published"]) == ("global", 0, None)
    path = f"/api/words/{made['id']}"

    first = words.put(made["id"], "网上赌场\n".encode("gbk"))
    assert (first["version"], first["counts"]["words"], first["source"], first["findings"]) == (1, 1, "a.txt", [])
    assert words.found("网上赌场") == []
    assert words.ask("POST", f"{path}/publish", {})["published"] == 1
    assert words.found("网上赌场") == [("网上赌场", "global", "house")]

    words.put(made["id"], b'{"deny": ["other words"]}', "application/json")
    assert words.ask("POST", f"{path}/publish", {"version": 2})["published"] == 2
    assert words.found("网上赌场") == []
    assert words.ask("POST", f"{path}/rollback", {})["published"] == 1
    assert words.found("网上赌场") == [("网上赌场", "global", "house")]

    assert [one["words"] for one in words.ask("GET", "/api/words")["lists"]] == [1]
    shown = words.ask("GET", path)
    assert [(one["version"], bool(one["published_ms"])) for one in shown["versions"]] == [(2, True), (1, True)]
    assert words.ask("GET", f"{path}/versions/2")["rules"] == {"deny": ["other words"]}


@pytest.mark.feature("D1")
def test_a_try_out_goes_by_the_lists_of_a_device(words: Words) -> None:
    words.publish("网上赌场", site="local")
    words.publish("代开发票", mac="AA-BB-CC-DD-EE-FF")
    text = "网上赌场 代开发票"

    assert words.found(text, mac=MAC) == [("网上赌场", "site", "own"), ("代开发票", "device", "own")]
    assert words.found(text, mac="112233445566") == [("网上赌场", "site", "own")]
    assert words.found(text, site="other") == []
    answer = words.ask("POST", "/api/words/try", {"text": text, "mac": MAC})
    assert {"scope": "device", "name": "own", "version": 1} in answer["versions"]


@pytest.mark.feature("D6")
def test_lists_come_in_pages_and_by_owner(words: Words) -> None:
    for index in range(3):
        words.ask("POST", "/api/words", {"name": f"list{index}"})
    own = words.ask("POST", "/api/words", {"name": "own", "mac": MAC})

    page = words.ask("GET", "/api/words?limit=2")
    assert [one["name"] for one in page["lists"]] == ["list0", "list1"]
    rest = words.ask("GET", page["next"])
    assert ([one["name"] for one in rest["lists"]], rest["next"]) == (["list2", "own"], None)
    for query in (f"mac={MAC}", "site=local", f"site=local&mac={MAC}"):
        assert words.ask("GET", f"/api/words?{query}")["lists"] == [{**own, "words": None}]


@pytest.mark.feature("D6")
def test_a_removed_list_is_gone(words: Words) -> None:
    list_id = words.publish("网上赌场")

    words.ask("DELETE", f"/api/words/{list_id}", status=204)

    assert words.found("网上赌场") == []
    words.ask("GET", f"/api/words/{list_id}", status=404)
    words.ask("DELETE", f"/api/words/{list_id}", status=404)
    words.put(list_id, b"x", status=404)


@on_sqlite
@pytest.mark.feature("D6")
def test_a_list_with_warnings_is_published_by_force_only(words: Words) -> None:
    list_id = int(words.ask("POST", "/api/words", {"name": "short"})["id"])
    assert words.put(list_id, "词语\n好".encode())["findings"][0]["place"] == "line 2"

    refused = words.ask("POST", f"/api/words/{list_id}/publish", {}, status=422)

    assert refused["type"] == "/problems/list-refused"
    assert refused["errors"][0]["pointer"] == "line 2"
    assert words.ask("POST", f"/api/words/{list_id}/publish", {"force": True})["published"] == 1


@on_sqlite
@pytest.mark.parametrize(
    ("data", "content_type", "status", "place"),
    [
        ("好\n词\n".encode("gbk") + b"\xff\xff", "text/plain; charset=gbk", 422, "line 3"),
        (b"x", "text/plain; charset=nonsense", 422, "encoding"),
        (b"colour\nred", "text/csv", 422, "line 1"),
        (b'{"deny": [{"word": "x", "level": 9}]}', "application/json", 422, "/deny/0/level"),
        (b"{", "application/json", 422, "line 1"),
        (b"x", "application/octet-stream", 415, None),
    ],
)
def test_a_file_that_is_no_list_changes_nothing(
    words: Words, data: bytes, content_type: str, status: int, place: str | None
) -> None:
    list_id = int(words.ask("POST", "/api/words", {"name": "house"})["id"])

    refused = words.put(list_id, data, content_type, status=status)

    assert [error["pointer"] for error in refused.get("errors", [])] == ([place] if place else [])
    assert words.ask("GET", f"/api/words/{list_id}")["versions"] == []


@on_sqlite
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/api/words", {"name": "a b"}, 422),
        ("POST", "/api/words", {"name": "own", "mac": "x"}, 422),
        ("POST", "/api/words", {"name": "own", "site": "nobody"}, 422),
        ("GET", "/api/words?limit=0", None, 400),
        ("GET", "/api/words?after=x", None, 400),
        ("GET", "/api/words?mac=x", None, 400),
        ("GET", "/api/words/x", None, 404),
        ("GET", "/api/words/99999999999999999999", None, 404),
        ("GET", "/api/words/1/versions/1", None, 404),
        ("GET", "/api/words/1/versions/x", None, 404),
        ("POST", "/api/words/1/publish", {}, 404),
        ("POST", "/api/words/1/publish", {"version": 0}, 422),
        ("POST", "/api/words/1/rollback", {}, 404),
        ("POST", "/api/words/1/rollback", {"force": True}, 422),
    ],
)
def test_bad_questions_are_refused(words: Words, method: str, path: str, body: Any, status: int) -> None:
    words.ask("POST", "/api/words", {"name": "house"})

    words.ask(method, path, body, status=status)


@pytest.mark.feature("H3")
@pytest.mark.feature("D1")
def test_lists_of_others_and_of_everybody_are_not_for_the_key_of_a_site(service: Any) -> None:
    north, south = guest(service, site="north"), guest(service, site="south")
    made = north.ask("POST", "/api/words", json={"name": "own", "mac": MAC}).json
    service.library.shelf.create(EVERYBODY, "house")

    assert (made["site"], made["scope"]) == ("north", "device")
    assert north.ask("GET", "/api/words").json["lists"] == [{**made, "words": None}]
    assert south.ask("GET", "/api/words").json["lists"] == []
    assert south.ask("GET", "/api/words", params={"site": "north"}).status_code == 403
    for wish in ({"name": "house"}, {"name": "own", "site": "north"}):
        assert south.ask("POST", "/api/words", json=wish).status_code == 403
    assert south.ask("POST", "/api/words/try", json={"text": "x", "site": "north"}).status_code == 403
    bound = guest(service, "viewer", "north", macs=("112233445566",))
    assert bound.ask("POST", "/api/words/try", json={"text": "x", "mac": MAC}).status_code == 403
    assert bound.ask("POST", "/api/words/try", json={"text": "x", "mac": "112233445566"}).status_code == 200
