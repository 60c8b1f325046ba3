"""Deliveries from the result to the receiver, over real HTTP; the clock between attempts is turned by hand."""

import base64
import hashlib
import hmac
import json
import logging
from dataclasses import replace

import pytest
import redis

from models.base import Database
from models.deliveries import ChosenDeliveries
from models.delivery_line import ATTEMPTS_MAX, RETRY_WAITS_S
from pipeline.log import JsonFormatter
from tests.support.announcements import KEY, Bureau
from tests.support.clock import FakeClock
from tests.support.receivers import Heard, answering, receiving, thanking

BROKEN = answering(b"HTTP/1.1 500 Oh\r\n\r\n")
GONE = answering(b"HTTP/1.1 410 Gone\r\n\r\n")
UNHEARD = "http://receiver.test:9/hook"


@pytest.fixture
def bureau(valkey: redis.Redis, database: Database, clock: FakeClock) -> Bureau:
    return Bureau(valkey, database, clock)


def assert_signed(heard: Heard) -> None:
    """Verify as docs/howto/webhooks.md tells receivers to."""
    signed = f"{heard.headers['webhook-id']}.{heard.headers['webhook-timestamp']}.".encode() + heard.body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert heard.headers["webhook-signature"] == f"v1,{expected}"


@pytest.mark.feature("R4")
def test_a_hit_reaches_its_receiver_once_signed_and_the_task_says_so(bureau: Bureau) -> None:
    with receiving() as receiver:
        bureau.end(callback_url=receiver.url())
        assert bureau.settle() == 1
        assert bureau.settle(100_000) == 0

    (heard,) = receiver.heard
    assert_signed(heard)
    assert heard.headers["webhook-id"] == "msg_t1_callback_1"
    assert json.loads(heard.body)["data"]["task_id"] == "t1"
    row = bureau.row()
    assert (row.state, row.attempts, row.last_status, row.error) == ("delivered", 1, 204, "")
    assert bureau.step() == ("done", "")


@pytest.mark.feature("R4")
def test_a_receiver_that_fails_is_tried_twelve_times_within_a_day_under_one_id(bureau: Bureau) -> None:
    with receiving(BROKEN) as receiver:
        bureau.end(callback_url=receiver.url())
        assert bureau.settle() == 1
        for wait_s in RETRY_WAITS_S:
            assert bureau.settle(wait_s - 1) == 0
            assert bureau.step() == ("pending", "")
            assert bureau.settle(1) == 1
        assert bureau.settle(200_000) == 0

    assert len(receiver.heard) == ATTEMPTS_MAX == 12
    assert sum(RETRY_WAITS_S) < 86_400
    assert len({(heard.headers["webhook-id"], heard.body) for heard in receiver.heard}) == 1
    assert len({heard.headers["webhook-timestamp"] for heard in receiver.heard}) == 12
    for heard in receiver.heard:
        assert_signed(heard)
    row = bureau.row()
    assert (row.state, row.attempts, row.last_status) == ("failed", 12, 500)
    assert bureau.step() == ("failed", "callback: it answered 500")


@pytest.mark.feature("R4")
def test_a_receiver_that_comes_back_gets_what_it_missed(bureau: Bureau) -> None:
    with receiving(BROKEN) as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.settle()
        receiver.manner = thanking
        assert bureau.settle(5) == 1

    row = bureau.row()
    assert (row.state, row.attempts, row.error) == ("delivered", 2, "")
    assert bureau.step() == ("done", "")


@pytest.mark.feature("R4")
def test_a_receiver_that_is_gone_is_not_asked_again(bureau: Bureau) -> None:
    with receiving(GONE) as receiver:
        bureau.end(callback_url=receiver.url())
        assert bureau.settle() == 1
        assert bureau.settle(200_000) == 0

    assert bureau.row().state == "failed"
    assert bureau.step() == ("failed", "callback: the receiver is gone for good")


@pytest.mark.feature("R4")
def test_of_two_receivers_each_has_its_own_fate_and_the_step_tells_the_worse(
    valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    with receiving() as good, receiving(GONE) as bad:
        bureau = Bureau(valkey, database, clock, good.url())
        bureau.end(callback_url=bad.url())
        assert bureau.settle() == 2

    assert [(row.effect, row.state) for row in bureau.rows()] == [("webhook", "delivered"), ("callback", "failed")]
    assert bureau.step() == ("failed", "callback: the receiver is gone for good")


@pytest.mark.feature("R4")
def test_a_replay_sends_the_same_again_under_the_same_id_with_all_attempts(bureau: Bureau) -> None:
    with receiving(GONE) as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.settle()
        receiver.manner = thanking
        assert bureau.deliveries.replay(_all()) == 1
        assert bureau.step() == ("pending", "")
        assert bureau.settle() == 1

    first, second = receiver.heard
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert (bureau.row().state, bureau.row().attempts) == ("delivered", 1)
    assert bureau.deliveries.replay(_all()) == 0, "what was delivered is sent again only when it is named"


@pytest.mark.feature("R4")
def test_a_worker_that_lost_its_lease_records_nothing(bureau: Bureau) -> None:
    bureau.end(callback_url=UNHEARD)
    bureau.announcer.put_in_line()
    old = bureau.claim()
    assert old
    row = bureau.line.begin(old.task_id, old.token)
    assert row
    assert bureau.line.begin(old.task_id, old.token + 1)

    assert not bureau.line.note_taken(row.id, old.token, 200)
    assert not bureau.line.note_failure(row.id, old.token, 500, "x", is_final=True)
    assert bureau.line.begin(old.task_id, old.token) is None
    assert (bureau.row().state, bureau.row().attempts) == ("pending", 2)


@pytest.mark.feature("R4")
def test_without_a_secret_nothing_is_sent(bureau: Bureau) -> None:
    with receiving() as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.work = replace(bureau.work, secrets=[])
        assert bureau.settle() == 1

    assert receiver.connections == 0
    assert bureau.row().state == "pending"


@pytest.mark.feature("R4")
def test_no_log_line_holds_the_query_of_a_url_or_what_a_receiver_says(
    bureau: Bureau, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with receiving(answering(b"HTTP/1.1 500 hunter2\r\nx: hunter2\r\n\r\nhunter2")) as receiver:
        bureau.end(callback_url=receiver.url())
        bureau.settle()

    lines = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    assert "receiver.test" in lines
    assert "sesame" not in lines + bureau.row().error
    assert "hunter2" not in lines + bureau.row().error


def _all() -> ChosenDeliveries:
    return ChosenDeliveries()
