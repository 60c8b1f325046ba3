"""Who is let in: with which key, for how long, from where."""

import json
import logging
from types import SimpleNamespace

import falcon.testing
import pytest

from models.keys import WantedKey
from tests.support.callers import guest, signed_headers
from tests.support.service import MAC, BrokenLedger, on_sqlite
from web.access import Access
from web.identity import access_of
from web.operations import Operation

BODY = {"mac": MAC, "text": "hello"}


def refused(result, slug="unauthenticated"):
    assert (result.status_code, result.json["type"]) == (401, f"/problems/{slug}")
    assert result.headers["WWW-Authenticate"]


@pytest.mark.feature("H3")
def test_without_any_key_programs_of_this_machine_may_do_everything(service):
    assert service.http().simulate_post("/api/ocr/text", json=BODY).status_code == 202
    assert service.http().simulate_get("/api/audit").status_code == 200


@on_sqlite
@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "fairlane.localhost"])
def test_this_machine_is_served_by_each_of_its_names(service, host):
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert service.http().simulate_get("/api/queue", headers=headers).status_code == 200


@pytest.mark.feature("H3")
@on_sqlite
@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("10.0.0.7", {}),
        ("", {}),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"Host": "evil.example:8000"}),
        ("127.0.0.1", {"Host": "localhost.evil.example"}),
        ("127.0.0.1", {"Host": "127.0.0.1.evil.example"}),
    ],
)
def test_without_any_key_nobody_else_is_served(service, address, headers):
    result = service.http().simulate_post("/api/ocr/text", json=BODY, headers=headers, extras={"REMOTE_ADDR": address})
    refused(result)
    assert service.traces() == ([], [], [])


@pytest.mark.feature("H3")
@on_sqlite
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[broken"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "Cross-Site", "Origin": "http://localhost"},
    ],
)
def test_without_any_key_a_web_page_of_elsewhere_changes_nothing(service, headers):
    result = service.http().simulate_post("/api/ocr/text", json=BODY, headers=headers)
    assert (result.status_code, result.json["type"]) == (403, "/problems/cross-site-request")
    assert service.traces() == ([], [], [])


@on_sqlite
def test_without_any_key_a_link_from_elsewhere_may_be_followed(service):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert service.http().simulate_get("/api/queue", headers=headers).status_code == 200


@on_sqlite
def test_a_server_that_does_not_say_who_asks_is_not_open(service):
    environ = falcon.testing.create_environ("/api/queue", host="localhost")
    environ.pop("REMOTE_ADDR", None)
    heard = falcon.testing.StartResponseMock()
    list(service.app()(environ, heard))
    assert heard.status == "401 Unauthorized"


@pytest.mark.feature("H3")
def test_once_there_is_a_key_loopback_needs_it_too(service):
    client = service.http()
    assert client.simulate_get("/api/queue").status_code == 200
    somebody = guest(service, site="*", client=client)
    service.clock.advance(1_000)
    refused(client.simulate_get("/api/queue"))
    assert somebody.ask("GET", "/api/queue").status_code == 200


def test_a_service_whose_keys_are_all_revoked_is_not_open_again(service):
    somebody = guest(service, site="*")
    service.api_keys.revoke(somebody.key.key_id)
    refused(service.http().simulate_get("/api/queue"))


@on_sqlite
@pytest.mark.parametrize("path", ["/livez", "/readyz", "/openapi.json"])
def test_probes_and_the_description_need_no_key(service, path):
    guest(service)
    assert service.http().simulate_get(path).status_code == 200


@on_sqlite
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer fl_",
        "Bearer fl_0123456789abcdef_" + "0" * 64,
        "Bearer fl_0123456789abcdef_" + "0" * 63,
        "Bearer fl_*_" + "0" * 64,
        "Bearer \xff",
        "Basic Zmw6Zmw=",
        "Fairlane-HMAC",
        "Fairlane-HMAC key_id=x",
        "Bearer a, Bearer b",
        "x" * 7_000,
    ],
)
def test_what_is_no_key_is_refused_and_leaves_nothing(service, authorization):
    guest(service)
    headers = {} if authorization is None else {"Authorization": authorization}
    result = service.http().simulate_post("/api/ocr/text", json=BODY, headers=headers)
    assert result.status_code == 401
    assert result.headers["WWW-Authenticate"]
    assert service.row_ids() == []


@pytest.mark.feature("H3")
def test_a_key_with_one_character_changed_is_refused(service):
    somebody = guest(service, site="*")
    for place in (3, 18, 20, 83):
        wrong = somebody.text[:place] + ("0" if somebody.text[place] != "0" else "1") + somebody.text[place + 1 :]
        refused(service.http().simulate_get("/api/queue", headers={"Authorization": f"Bearer {wrong}"}))
    refused(service.http().simulate_get("/api/queue", headers={"Authorization": f"Bearer {somebody.text.upper()}"}))


@pytest.mark.feature("H3")
def test_a_revoked_key_opens_nothing_after_a_second(service):
    somebody = guest(service, site="*")
    assert somebody.ask("GET", "/api/queue").status_code == 200
    service.api_keys.revoke(somebody.key.key_id)
    service.clock.advance(999)
    assert somebody.ask("GET", "/api/queue").status_code == 200
    service.clock.advance(1)
    refused(somebody.ask("GET", "/api/queue"))


@pytest.mark.feature("H3")
def test_an_expired_key_opens_nothing_from_that_moment(service):
    somebody = guest(service, site="*", lifetime_ms=500)
    assert somebody.ask("GET", "/api/queue").status_code == 200
    service.clock.advance(500)
    refused(somebody.ask("GET", "/api/queue"))


@pytest.mark.feature("H3")
def test_during_rotation_both_keys_are_good_then_only_the_new_one(service):
    old = guest(service, site="*")
    new_key, new_text = service.api_keys.rotate(old.key.key_id, overlap_ms=5_000)
    service.clock.advance(4_000)
    with_new = {"Authorization": f"Bearer {new_text}"}
    assert old.ask("GET", "/api/queue").status_code == 200
    assert service.http().simulate_get("/api/queue", headers=with_new).status_code == 200
    service.clock.advance(1_000)
    refused(old.ask("GET", "/api/queue"))
    assert service.http().simulate_get("/api/queue", headers=with_new).status_code == 200
    assert (new_key.role, new_key.site) == ("admin", "*")


def test_the_use_of_a_key_is_noted_to_the_minute(service):
    somebody = guest(service, site="*")
    began_ms = service.clock.now_ms()
    for _ in range(3):
        somebody.ask("GET", "/api/queue")
        service.clock.advance(10_000)
    assert service.api_keys.get(somebody.key.key_id).last_used_ms == began_ms
    service.clock.advance(40_000)
    somebody.ask("GET", "/api/queue")
    assert service.api_keys.get(somebody.key.key_id).last_used_ms == began_ms + 70_000


def test_no_key_is_known_while_the_database_is_silent(service):
    class SilentKeys(type(service.api_keys)):
        def get(self, key_id):
            return BrokenLedger(service.database, service.clock).accept(None)

    somebody = guest(service, site="*")
    result = service.http(keys=SilentKeys(service.database, service.clock)).simulate_get(
        "/api/queue", headers={"Authorization": f"Bearer {somebody.text}"}
    )
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")


@pytest.mark.feature("H3")
def test_a_key_is_in_no_log_answer_or_record(service, caplog):
    caplog.set_level(logging.WARNING, logger="peewee")  # as `configure_logging` has it
    caplog.set_level(logging.DEBUG)
    somebody = guest(service, role="device", must_sign=False)
    signer = guest(service, site="*", must_sign=True)
    answers = [
        somebody.ask("POST", "/api/ocr/text", json=BODY).text,
        somebody.ask("GET", "/api/queue").text,
        signer.ask("GET", "/api/queue").text,
        service.http().simulate_get("/api/queue", query_string=f"key={somebody.text}").text,
    ]
    records = [str(vars(record)) + record.getMessage() for record in caplog.records]
    for secret in (somebody.text, signer.text, somebody.key.key_hash, signer.key.signing_secret):
        part = secret.rpartition("_")[2]
        assert part not in "".join(answers)
        assert part not in "".join(records)
    assert f"key:{somebody.key.key_id}" in "".join(records)


@pytest.mark.feature("H3")
def test_every_operation_declares_who_may_do_it(service):
    description = service.http().simulate_get("/openapi.json").json
    operations = {
        f"{method} {path}": operation
        for path, item in description["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    undeclared = [name for name, operation in operations.items() if operation.get("x-roles") == []]
    open_to_all = {name for name, operation in operations.items() if not operation["security"]}
    assert undeclared == []
    assert open_to_all == {"get /livez", "get /readyz", "get /openapi.json"}
    assert not Access.NOBODY.roles


@on_sqlite
def test_keys_of_no_known_kind_are_not_made(service):
    with pytest.raises(Exception, match="one site"):
        service.api_keys.create(WantedKey("n", "*", "device"))


@on_sqlite
def test_head_and_options_are_no_way_around_a_key(service):
    guest(service)
    for method in ("HEAD", "OPTIONS", "TRACE", "PUT"):
        assert service.http().simulate_request(method, "/api/queue").status_code == 401
        assert service.http().simulate_request(method, "/api/queue").headers.get("Allow") is None


@on_sqlite
def test_a_request_that_the_server_hands_in_again_is_let_in_until_its_key_ends(service_of):
    service = service_of(rate_per_key=6, rate_per_address=6)
    signer = guest(service, site="*", must_sign=True)
    app = service.app()
    headers = signed_headers(signer.key, signer.text, "GET", "/api/queue", b"", service.clock.now_ms())
    environ = falcon.testing.create_environ("/api/queue", headers=headers)

    def status():
        heard = falcon.testing.StartResponseMock()
        list(app(environ, heard))
        return heard.status

    assert status() == "200 OK"
    assert status() == "200 OK"
    service.api_keys.revoke(signer.key.key_id)
    service.clock.advance(1_000)
    assert status() == "401 Unauthorized"


@on_sqlite
def test_head_needs_what_get_needs(service):
    for access in ("READ", "HOUSE", "MANAGE", "OPEN"):
        operation = Operation(summary="x", answers={}, access=Access[access])
        resource = SimpleNamespace(operations={"GET": operation})
        assert access_of(resource, "HEAD") is Access[access]
        assert access_of(resource, "POST") is (Access.OPEN if access == "OPEN" else Access.OWN)


@on_sqlite
@pytest.mark.parametrize(
    "path",
    ["/API/queue", "/api/queue/", "//api/queue", "/api/./queue", "/api/../api/queue", "/api/%71ueue", "/api%2fqueue"],
)
def test_no_spelling_of_a_path_leads_around_a_key(service, path):
    guest(service)
    result = service.http().simulate_get(path)
    assert result.status_code in (401, 404)
    assert "lanes" not in json.dumps(result.json)
