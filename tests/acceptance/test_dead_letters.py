"""A task that failed, its cause cured, is replayed by the running scheduler and ends well."""

import json

import pytest

from models.base import connection
from pipeline.samples import sample_images
from pipeline.storage import open_store
from tests.acceptance.conftest import Running
from tests.support.processes import wait_until

PHONE = "0a:00:00:00:00:03"


@pytest.mark.feature("Q16")
def test_a_replay_runs_what_failed_once_more_after_the_cause_was_cured(fairlane: Running) -> None:
    whole = next(data for name, data in sample_images() if "water_notice" in name)
    task_id = fairlane.api.submit_image("cut.png", whole[: len(whole) // 2], PHONE)["task_id"]
    assert fairlane.api.task(task_id, wait_s=30)["state"] == "failed"
    (letter,) = fairlane.api._ask(f"/api/dead-letters?mac={PHONE}")["dead_letters"]
    assert (letter["task_id"], letter["code"]) == (task_id, "bad_image")

    with connection():
        row = fairlane.ledger.get(task_id)
    assert row is not None
    open_store(fairlane.settings.effective_storage_url).put(row.payload["object"], whole)
    body = json.dumps({"ids": [letter["id"]]}).encode()
    asked = fairlane.api._ask("/api/dead-letters/replay", body, {"Content-Type": "application/json"})

    assert asked == {"letters": 1, "dry_run": False}
    wait_until(lambda: fairlane.api._ask(f"/api/dead-letters/{letter['id']}")["replayed_ms"])
    task = fairlane.api.task(task_id, wait_s=30)
    assert (task["state"], task["attempts"], task["error"]) == ("done", 1, None)
    fairlane.assert_books_balance()
