"""Every hostile request of `tests/data/bad_inputs.json`, byte for byte, against the web process as the Procfile starts
it; and after each of them the process is the same, nothing was stored, and the next good request is served.
"""

import json
from collections.abc import Callable

import pytest

from tests.support import bad_inputs
from tests.support.bad_inputs import MAC, Case, raw_request
from tests.support.watched import Watched, assert_answer
from tests.support.web_server import WebServer, problem, status

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#: Receivers inside our network that the file names without TLS.
INNER = ("loopback", "metadata", "ipv6_loopback", "decimal_ip", "ipv4_mapped")


@pytest.fixture(scope="module")
def watched(server_of: Callable[..., WebServer], valkey_url: str) -> Watched:
    watched = Watched(server_of(webhook_secrets=SECRET), valkey_url)
    assert status(watched.submit(json.dumps({"mac": MAC, "text": "x", "task_id": "ended"}).encode())) == 202
    assert status(watched.server.say(raw_request("DELETE", "/api/ocr/tasks/ended", {}, b""))) == 200
    return watched


@pytest.fixture(scope="module")
def without_tls(server_of: Callable[..., WebServer], valkey_url: str) -> Watched:
    return Watched(server_of(webhook_secrets=SECRET, webhook_allow_http=True), valkey_url)


def test_every_case_is_played() -> None:
    _, slow = bad_inputs.SLOW
    played = {case.name for case in bad_inputs.cases()} | bad_inputs.names_apart() | slow
    assert played == {case["name"] for case in bad_inputs.all_cases()}


@pytest.mark.feature("H2")
@pytest.mark.parametrize("case", bad_inputs.cases(), ids=lambda case: case.name)
def test_a_hostile_request_gets_its_answer_and_changes_nothing(watched: Watched, case: Case) -> None:
    pids, before = watched.pids(), watched.traces()
    answer = watched.server.say(case.raw, hang_up=case.hangs_up)
    if not case.hangs_up:
        assert_answer(watched.server, case.expected, answer)
    if case.hangs_up or status(answer) >= 300:
        assert watched.traces() == before
    watched.assert_serves()
    assert watched.pids() == pids


@pytest.mark.feature("R4")
@pytest.mark.parametrize("name", INNER)
def test_an_inner_receiver_is_refused_for_its_address_not_only_for_want_of_tls(without_tls: Watched, name: str) -> None:
    case = next(case for case in bad_inputs.cases() if case.name == f"webhook_{name}")
    answer = without_tls.assert_answers(case.raw, case.expected)
    (fault,) = problem(answer)["errors"]  # type: ignore[misc]
    assert fault["pointer"] == "/callback_url"
    assert "address" in fault["detail"]
    without_tls.assert_serves()
