"""Limits on requests: per key, device and address; said in headers."""

import pytest

from pipeline.errors import QueueUnavailable
from pipeline.queue import RequestLimits
from tests.support.callers import guest
from tests.support.service import MAC, on_sqlite

OTHER_MAC = "112233445566"
TEXT = "/api/ocr/text"


def body(mac=MAC):
    return {"mac": mac, "text": "x"}


def limited(result):
    assert (result.status_code, result.json["type"]) == (429, "/problems/quota-exceeded")
    assert int(result.headers["Retry-After"]) == result.json["retry_after"] >= 1
    return result


@pytest.mark.feature("H3")
def test_a_key_may_send_a_burst_and_then_its_rate(service_of):
    service = service_of(rate_per_key=12, rate_per_device=0, rate_per_address=0)
    somebody = guest(service, "device")
    answers = [somebody.ask("POST", TEXT, json=body()) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"key";q=2;w=10'
    assert answers[0].headers["RateLimit"] == '"key";r=1;t=5'
    assert limited(answers[2]).headers["RateLimit"] == '"key";r=0;t=10'
    assert answers[2].headers["Retry-After"] == "5"
    assert guest(service, "device").ask("POST", TEXT, json=body()).status_code == 202
    service.clock.advance(5_000)
    assert somebody.ask("POST", TEXT, json=body()).status_code == 202


@pytest.mark.feature("H3")
def test_a_device_is_limited_alone_however_its_mac_is_spelt(service_of):
    service = service_of(rate_per_key=0, rate_per_device=6, rate_per_address=0)
    somebody = guest(service, "device")
    assert somebody.ask("POST", TEXT, json=body()).status_code == 202
    limited(somebody.ask("POST", TEXT, json=body("AA-BB-CC-DD-EE-FF")))
    limited(somebody.ask("POST", "/api/decter", json={"mac": MAC, "detection_id": "d"}))
    assert somebody.ask("POST", TEXT, json=body(OTHER_MAC)).status_code == 202
    assert guest(service, "device", "north").ask("POST", TEXT, json=body()).status_code == 202
    batch = somebody.ask("POST", TEXT, json={"tasks": [body(), body("665544332211")]}).json
    assert [item["status"] for item in batch["results"]] == [429, 202]


@pytest.mark.feature("H3")
def test_an_address_is_limited_with_a_key_and_without(service_of):
    service = service_of(rate_per_key=0, rate_per_device=0, rate_per_address=12)
    somebody = guest(service, "device")
    client = service.http()
    assert [client.simulate_get("/api/queue").status_code for _ in range(3)] == [401, 401, 429]
    limited(somebody.ask("POST", TEXT, json=body()))
    elsewhere = {"REMOTE_ADDR": "10.9.9.9"}
    assert somebody.ask("POST", TEXT, json=body(), extras=elsewhere).status_code == 202


@on_sqlite
@pytest.mark.parametrize(
    ("trusted", "forwarded", "buckets"),
    [
        ("", ["1.1.1.1", "2.2.2.2"], 1),
        ("127.0.0.1", ["1.1.1.1", "2.2.2.2"], 2),
        ("127.0.0.0/8, 10.0.0.0/8", ["1.1.1.1, 10.0.0.1", "1.1.1.1, 10.0.0.2"], 1),
        ("127.0.0.1", ["6.6.6.6, 1.1.1.1", "7.7.7.7, 1.1.1.1"], 1),
        ("127.0.0.1", ["2001:db8::1", "2001:db8::ffff"], 1),
        ("127.0.0.1", ["2001:db8::1", "2001:db8:1::1"], 2),
        ("127.0.0.1", ["::ffff:1.1.1.1", "1.1.1.1"], 1),
        ("127.0.0.1", ["garbage", "1.1.1.1, garbage"], 1),
    ],
)
def test_the_header_of_a_proxy_counts_only_from_a_trusted_one(service_of, trusted, forwarded, buckets):
    service = service_of(rate_per_key=0, rate_per_address=60, trusted_proxies=trusted)
    guest(service)
    for value in forwarded:
        service.http().simulate_get("/api/queue", headers={"X-Forwarded-For": value})
    assert len(service.client.keys("*limit:address:*")) == buckets


@on_sqlite
def test_a_bucket_goes_away_when_it_is_full(service_of):
    service = service_of(rate_per_key=60, rate_per_device=60, rate_per_address=60)
    guest(service, "device").ask("POST", TEXT, json=body())
    keys = service.client.keys("*limit:*")
    assert len(keys) == 3
    assert all(0 < service.client.pttl(key) <= 1_000 for key in keys)


@on_sqlite
def test_nothing_is_counted_without_keys(service):
    service.http().simulate_post(TEXT, json=body())
    assert service.client.keys("*limit:*") == []


@on_sqlite
def test_reads_go_on_while_nothing_can_be_counted(service):
    class SilentLimits(RequestLimits):
        def take(self, bucket):
            raise QueueUnavailable("silent")

    somebody = guest(service)
    limits = SilentLimits(service.client, service.queue.keys, service.clock)
    headers = {"Authorization": f"Bearer {somebody.text}"}
    result = service.http(limits=limits).simulate_get("/api/dead-letters", headers=headers)
    assert result.status_code == 200
    assert "RateLimit" not in result.headers
