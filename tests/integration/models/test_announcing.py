"""What the end of a task announces: rows that are written with the end, once, to whom it concerns."""

import json
from typing import Any

import pytest
import redis

from models.announcing import HITS_MAX
from models.base import Database
from models.dead_letters import Chosen, DeadLetters
from models.ledger import DetectionRecord, Finished
from models.replays import Replays
from models.statistics import Statistics
from tests.support.announcements import HIT, MAC, Bureau
from tests.support.clock import FakeClock

URL, CALLBACK = "https://example.com/hook?token=sesame", "https://other.example/cb"


@pytest.fixture
def bureau(valkey: redis.Redis, database: Database, clock: FakeClock) -> Bureau:
    return Bureau(valkey, database, clock, URL)


@pytest.fixture
def ends(valkey: redis.Redis, database: Database, clock: FakeClock) -> Bureau:
    """One where every end is announced."""
    return Bureau(valkey, database, clock, URL, is_every_end=True)


@pytest.mark.feature("R4")
def test_a_hit_is_announced_to_the_configured_receiver_and_to_that_of_the_request(bureau: Bureau) -> None:
    bureau.end(callback_url=CALLBACK)

    assert [(row.effect, row.url, row.state) for row in bureau.rows()] == [
        ("webhook", URL, "pending"),
        ("callback", CALLBACK, "pending"),
    ]
    assert bureau.step() == ("pending", "")


@pytest.mark.feature("R4")
def test_the_announcement_says_what_was_found_and_no_secret(bureau: Bureau) -> None:
    bureau.end(detection_id="d1", hits=2)

    body: dict[str, Any] = json.loads(bureau.row().body)
    assert body["type"] == "task.hit"
    assert body["timestamp"].endswith("Z")
    assert body["data"]["verdict"] == {"suggestion": "block", "label": "spam", "level": 3, "score": 0.9}
    assert (body["data"]["hit_count"], body["data"]["hits"]) == (2, [HIT, HIT])
    named = {name: body["data"][name] for name in ("task_id", "mac", "site", "lane", "state", "detection_id")}
    expected = {"task_id": "t1", "mac": MAC, "site": "local", "lane": "text", "state": "done", "detection_id": "d1"}
    assert named == expected
    assert set(body["data"]["versions"]) == {"fairlane", "lists"}
    assert "sesame" not in bureau.row().body


def test_an_announcement_of_very_many_hits_stays_short_and_tells_their_number(bureau: Bureau) -> None:
    bureau.end(hits=5000)

    data = json.loads(bureau.row().body)["data"]
    assert (data["hit_count"], len(data["hits"])) == (5000, HITS_MAX)


@pytest.mark.feature("R4")
def test_without_a_hit_or_without_anybody_to_tell_the_step_says_why(
    bureau: Bureau, valkey: redis.Redis, database: Database, clock: FakeClock
) -> None:
    bureau.end(hits=0)
    assert bureau.step() == ("skipped", "nothing was found")
    quiet = Bureau(valkey, database, clock)
    quiet.tokens = bureau.tokens
    quiet.end("t2")
    assert quiet.step("t2") == ("skipped", "no announcement was asked for")
    assert bureau.rows() == []


@pytest.mark.feature("R4")
def test_every_end_is_announced_where_that_is_wanted(ends: Bureau) -> None:
    ends.end("done", hits=0)
    ends.end("hit")
    ends.begin("failed")
    ends.ledger.end("failed", ends.tokens, "failed", "bad_image", "not an image")
    ends.begin("cancelled")
    ends.ledger.close("cancelled", "cancelled", "cancelled", "by a client")

    announced = [(row.type, json.loads(row.body)["data"]["code"]) for row in ends.rows()]
    assert announced == [
        ("task.done", None),
        ("task.hit", None),
        ("task.failed", "bad_image"),
        ("task.cancelled", "cancelled"),
    ]
    assert ends.step("failed") == ("pending", "")


def test_bad_ends_are_not_announced_unless_that_is_wanted(bureau: Bureau) -> None:
    bureau.begin()
    bureau.ledger.end("t1", bureau.tokens, "failed", "bad_image", "not an image")

    assert bureau.rows() == []


@pytest.mark.feature("R2")
def test_an_end_that_is_refused_announces_nothing_and_an_end_announces_once(bureau: Bureau) -> None:
    bureau.begin()
    outcome = Finished(None, DetectionRecord("x", "block", [HIT]), [], 1)
    bureau.ledger.finish("t1", bureau.tokens, outcome)
    for token in (bureau.tokens - 1, bureau.tokens, bureau.tokens + 1):
        with pytest.raises(Exception, match="task t1"):
            bureau.ledger.finish("t1", token, outcome)

    assert len(bureau.rows()) == 1


def test_a_task_that_is_replayed_announces_its_new_end_under_a_new_id(ends: Bureau, database: Database) -> None:
    ends.begin()
    ends.ledger.end("t1", ends.tokens, "dead", "internal", "")
    replays = Replays(database, ends.clock, Statistics(database, 0))
    DeadLetters(database, ends.clock).ask_replay(Chosen())
    (asked,) = replays.asked(passing_over=(), limit=1)
    assert replays.reopen(asked, above_token=9, begun_ms=ends.clock.now_ms())
    ends.ledger.start("t1", 99, 1)
    ends.ledger.finish("t1", 99, Finished(None, DetectionRecord("x", "block", [HIT]), [], 1))

    assert [row.type for row in ends.rows()] == ["task.dead", "task.hit"]
    assert len({row.message_id for row in ends.rows()}) == 2
