"""The hostile requests of `tests/data/bad_inputs.json` that are about keys and limits, against a server with keys."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from models.keys import KeyRow
from pipeline.clock import SystemClock
from pipeline.settings import Settings
from tests.support.bad_inputs import MAC, Expected, expected, raw_request
from tests.support.callers import made_keys, signed_headers
from tests.support.watched import GOOD, JSON, Watched, assert_answer, header
from tests.support.web_server import WebServer, problem, status

TEXT = "/api/ocr/text"
OTHER_MAC = "aabbccddee02"


@dataclass
class Holders:
    """Who has which key."""

    made: dict[str, tuple[KeyRow, str]] = field(default_factory=dict)

    def make(self, settings: Settings) -> None:
        """Make the keys, before the server starts."""
        wanted = {
            "device": {"macs": (MAC,)},
            "other device": {"macs": (OTHER_MAC,)},
            "admin": {"role": "admin", "site": "*"},
            "signer": {"macs": (MAC,), "must_sign": True},
        }
        url = settings.effective_database_url
        self.made = dict(zip(wanted, made_keys(url, *wanted.values()), strict=True))
        (self.made["revoked"],) = made_keys(url, {"macs": (MAC,)}, is_revoked=True)

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.made[name][1]}"}


@dataclass
class Keyed:
    """A server with keys, and their holders."""

    watched: Watched
    holders: Holders

    def post(self, headers: dict[str, str], body: bytes = GOOD) -> bytes:
        return self.watched.server.say(raw_request("POST", TEXT, {**JSON, **headers}, body))


@pytest.fixture(scope="module")
def keyed_of(server_of: Callable[..., WebServer], valkey_url: str) -> Callable[..., Keyed]:
    """Start a server with keys and some settings of its own."""

    def start(**settings: object) -> Keyed:
        holders = Holders()
        server = server_of(prepare=holders.make, **settings)
        return Keyed(Watched(server, valkey_url, holders.headers("device")), holders)

    return start


@pytest.fixture(scope="module")
def keyed(keyed_of: Callable[..., Keyed]) -> Keyed:
    keyed = keyed_of()
    keyed.watched.assert_serves()
    return keyed


pytestmark = pytest.mark.feature("H3")


def test_without_a_key(keyed: Keyed) -> None:
    raw = raw_request("POST", TEXT, JSON, GOOD)
    answer = keyed.watched.assert_answers(raw, expected("auth_none"))
    assert header(answer, "WWW-Authenticate")
    keyed.watched.assert_serves()


def test_with_a_revoked_key(keyed: Keyed) -> None:
    raw = raw_request("POST", TEXT, {**JSON, **keyed.holders.headers("revoked")}, GOOD)
    keyed.watched.assert_answers(raw, expected("auth_revoked_key"))


def signed(keyed: Keyed, later_s: int = 0) -> dict[str, str]:
    key, text = keyed.holders.made["signer"]
    return signed_headers(key, text, "POST", TEXT, GOOD, SystemClock().now_ms() + later_s * 1000)


def test_with_a_signature_of_which_one_bit_is_wrong(keyed: Keyed) -> None:
    good = signed(keyed)["Authorization"]
    flipped = good[:-1] + f"{int(good[-1], 16) ^ 1:x}"
    raw = raw_request("POST", TEXT, {**JSON, "Authorization": flipped}, GOOD)
    keyed.watched.assert_answers(raw, expected("auth_bad_hmac"))
    assert status(keyed.post({"Authorization": good})) == 202
    log = keyed.watched.server.log.read_text()
    assert flipped.rpartition("=")[2] not in log
    assert good.rpartition("=")[2] not in log


def test_with_a_signature_of_the_next_hour(keyed: Keyed) -> None:
    raw = raw_request("POST", TEXT, {**JSON, **signed(keyed, later_s=3_600)}, GOOD)
    keyed.watched.assert_answers(raw, expected("auth_future_timestamp"))


def test_a_device_that_lists_another(keyed: Keyed) -> None:
    path = f"/api/ocr/tasks?mac={OTHER_MAC}"
    raw = raw_request("GET", path, keyed.holders.headers("device"), b"")
    keyed.watched.assert_answers(raw, expected("bola_list_other_device"))


@pytest.mark.parametrize("authorization", ["Basic YWRtaW46YWRtaW4=", "Bearer admin"])
def test_with_a_name_and_a_password_that_everybody_knows(keyed: Keyed, authorization: str) -> None:
    # There is no log-in: a key is what opens, and none comes with the product.
    raw = raw_request("GET", "/api/audit", {"Authorization": authorization}, b"")
    keyed.watched.assert_answers(raw, expected("admin_default_credentials"))


def test_an_idempotency_key_that_another_device_has_used(keyed: Keyed) -> None:
    theirs = keyed.post(
        {**keyed.holders.headers("other device"), "Idempotency-Key": "k-of-b"},
        json.dumps({"mac": OTHER_MAC, "text": "good"}).encode(),
    )
    assert status(theirs) == 202
    ours = keyed.post({**keyed.holders.headers("device"), "Idempotency-Key": "k-of-b"})
    assert_answer(keyed.watched.server, expected("idem_key_of_other_device"), ours)
    assert _task_id(ours) != _task_id(theirs)
    assert not header(ours, "Idempotency-Replayed")


def test_metrics_without_a_key(keyed: Keyed) -> None:
    keyed.watched.assert_answers(raw_request("GET", "/metrics", {}, b""), expected("metrics_from_outside"))


def test_twenty_wrong_keys_and_then_the_right_one(keyed_of: Callable[..., Keyed]) -> None:
    # 120 a minute: twenty at once.
    keyed = keyed_of(rate_per_address=120)
    guesses = [keyed.post({"Authorization": f"Bearer fl_{number:016x}_{'0' * 64}"}) for number in range(20)]
    assert {status(guess) for guess in guesses} == {401}
    answers = burst(lambda _: keyed.post({"Authorization": "Bearer no-key"}))
    refused = [answer for answer in answers if status(answer) != 401]
    right = keyed.post(keyed.holders.headers("device"))
    assert_limited(keyed.watched, expected("admin_bruteforce"), [*refused, right])


def test_a_burst_of_one_device(keyed_of: Callable[..., Keyed]) -> None:
    keyed = keyed_of(rate_per_device=6)
    answers = burst(lambda _: keyed.post(keyed.holders.headers("device")))
    assert_limited(keyed.watched, expected("rate_device_burst"), answers[-1:])
    assert keyed.watched.server.accepted() == len(answers) - 1
    others = json.dumps({"mac": OTHER_MAC, "text": "good"}).encode()
    assert status(keyed.post(keyed.holders.headers("other device"), others)) == 202


def test_a_burst_that_claims_to_come_from_many_addresses(keyed_of: Callable[..., Keyed]) -> None:
    keyed = keyed_of(rate_per_address=6)
    key = keyed.holders.headers("device")
    answers = burst(lambda number: keyed.post({**key, "X-Forwarded-For": f"203.0.113.{number}"}))
    assert_limited(keyed.watched, expected("rate_xff_spoof"), answers[-1:])


def burst(ask: Callable[[int], bytes]) -> list[bytes]:
    """Ask until the first refusal for too many requests; all answers."""
    answers: list[bytes] = []
    for number in range(200):
        answers.append(ask(number))
        if status(answers[-1]) == 429:
            return answers
    raise AssertionError("nobody was refused")


def assert_limited(watched: Watched, wanted: Expected, answers: list[bytes]) -> None:
    for answer in answers:
        assert_answer(watched.server, wanted, answer)
        assert int(header(answer, "Retry-After")) == problem(answer)["retry_after"]
        assert header(answer, "RateLimit")
        assert header(answer, "RateLimit-Policy")


def _task_id(answer: bytes) -> str:
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["task_id"])


def test_a_large_replay_that_nobody_confirmed(keyed_of: Callable[..., Keyed]) -> None:
    keyed = keyed_of()
    with closing(sqlite3.connect(keyed.watched.server.folder / "fairlane.db")) as database, database:
        database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO dead_letter "
            "(task_id, mac, site, lane, state, code, message, attempts, created_ms, dead_ms, payload, replay_refusal) "
            f"SELECT 't' || i, '{MAC}', 'local', 'ocr', 'dead', 'engine_timeout', '', 1, 1, 1, '{{}}', '' FROM n"
        )

    def replay(**wanted: object) -> bytes:
        body = json.dumps({"filter": {"code": "engine_timeout"}, **wanted}).encode()
        return raw_request("POST", "/api/dead-letters/replay", {**JSON, **keyed.holders.headers("admin")}, body)

    answer = keyed.watched.assert_answers(replay(), expected("replay_unconfirmed_large"))
    assert "1200" in str(problem(answer)["detail"])
    assert b'"letters":1200' in keyed.watched.server.say(replay(dry_run=True))
    assert status(keyed.watched.server.say(replay(confirm=1199))) == 422
    assert status(keyed.watched.server.say(replay(confirm=1200))) == 202
    keyed.watched.assert_serves()
