"""Signed requests: this very request, now, once."""

import json

import pytest

from tests.support.callers import guest, signed_headers
from tests.support.service import MAC, BrokenLedger, on_sqlite

BODY = json.dumps({"mac": MAC, "text": "hello"}).encode()
PATH = "/api/ocr/text"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def signer(service):
    return guest(service, "device", must_sign=True)


def headers_of(signer, method="POST", target=PATH, body=BODY, drift_s=0, **changes):
    now_ms = signer.service.clock.now_ms() + drift_s * 1_000
    return signed_headers(signer.key, signer.text, method, target, body, now_ms, **changes)


def post(signer, headers, body=BODY, path=PATH, query=""):
    return signer.client.simulate_post(path, body=body, headers={**JSON, **headers}, query_string=query)


def refused(result, slug):
    assert (result.status_code, result.json["type"]) == (401, f"/problems/{slug}")
    assert result.headers["WWW-Authenticate"].startswith("Fairlane-HMAC")


@pytest.mark.feature("H3")
def test_a_signed_request_is_served(service, signer):
    assert post(signer, headers_of(signer)).status_code == 202
    (task_id,) = service.row_ids()
    target = f"/api/ocr/tasks/{task_id}?wait=0"
    result = signer.client.simulate_get(
        f"/api/ocr/tasks/{task_id}", query_string="wait=0", headers=headers_of(signer, "GET", target, b"")
    )
    assert result.json["state"] == "queued"


@pytest.mark.feature("H3")
def test_a_signed_request_is_served_once(service, signer):
    headers = headers_of(signer)
    assert post(signer, headers).status_code == 202
    refused(post(signer, headers), "stale-signature")
    assert len(service.row_ids()) == 1


@pytest.mark.feature("H3")
@pytest.mark.parametrize(
    "changed",
    [
        {"signature": "0" * 64},
        {"timestamp": "1760000001"},
        {"nonce": "another-nonce-0001"},
        {"body_sha256": "0" * 64},
        {"key_id": "0" * 16},
    ],
)
def test_a_request_that_is_not_as_it_was_signed_is_refused(service, signer, changed):
    refused(post(signer, headers_of(signer, **changed)), "bad-signature")
    assert service.row_ids() == []


@on_sqlite
def test_method_path_query_and_body_are_all_signed(service, signer):
    refused(post(signer, headers_of(signer, method="PUT")), "bad-signature")
    refused(post(signer, headers_of(signer, target="/api/decter")), "bad-signature")
    refused(post(signer, headers_of(signer), query="x=1"), "bad-signature")
    refused(post(signer, headers_of(signer), body=BODY.replace(b"hello", b"jello")), "bad-signature")
    assert service.row_ids() == []


@on_sqlite
@pytest.mark.parametrize("drift_s", [301, -301, 3_600])
def test_a_timestamp_outside_the_window_is_refused(service, signer, drift_s):
    refused(post(signer, headers_of(signer, drift_s=drift_s)), "stale-signature")


@on_sqlite
@pytest.mark.parametrize("drift_s", [300, -300])
def test_a_timestamp_at_the_edge_is_taken(service, signer, drift_s):
    assert post(signer, headers_of(signer, drift_s=drift_s)).status_code == 202


@on_sqlite
@pytest.mark.parametrize(
    "credentials",
    [
        "",
        "key_id=0",
        "key_id=0, key_id=0",
        "a=b, " * 1_000,
        "key_id=0000000000000000, timestamp=9, nonce=n, body_sha256=0, signature=0",
        "key_id=0000000000000000, timestamp=٣, nonce=0123456789abcdef, body_sha256=0, signature=0",
    ],
)
def test_what_is_no_signature_is_refused(service, signer, credentials):
    refused(post(signer, {"Authorization": f"Fairlane-HMAC {credentials}".encode().decode("latin-1")}), "bad-signature")


@on_sqlite
def test_a_key_that_signs_does_not_travel_itself(service, signer):
    refused(post(signer, {"Authorization": f"Bearer {signer.text}"}), "bad-signature")


@on_sqlite
def test_a_key_without_signing_cannot_sign(service):
    bearer = guest(service, "device")
    refused(post(bearer, headers_of(bearer)), "bad-signature")


@on_sqlite
def test_a_revoked_key_does_not_sign(service, signer):
    service.api_keys.revoke(signer.key.key_id)
    refused(post(signer, headers_of(signer)), "bad-signature")


@on_sqlite
def test_nonces_are_forgotten_when_their_timestamp_is_too_old_anyway(service, signer):
    assert post(signer, headers_of(signer)).status_code == 202
    refused(post(signer, headers_of(signer, signature="0" * 64)), "bad-signature")
    (nonce,) = service.client.keys("*nonce:*")
    assert 600_000 < service.client.pttl(nonce) <= 601_000


@on_sqlite
def test_no_signed_request_is_served_while_replays_would_not_be_seen(service, signer):
    class SilentLimits(type(service.limits)):
        def note_nonce(self, *args, **options):
            return BrokenLedger(service.database, service.clock).accept(None)

    limits = SilentLimits(service.client, service.queue.keys, service.clock)
    client = service.http(limits=limits)
    result = client.simulate_post(PATH, body=BODY, headers={**JSON, **headers_of(signer)})
    assert result.status_code == 503
    assert service.row_ids() == []


@on_sqlite
def test_a_body_larger_than_any_is_refused_unread(service, signer):
    headers = {**JSON, **headers_of(signer), "Content-Length": "1000000000"}
    assert signer.client.simulate_post(PATH, body=b"", headers=headers).status_code == 413
