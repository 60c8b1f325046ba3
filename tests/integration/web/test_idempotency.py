"""The header Idempotency-Key."""

import json

import pytest

from tests.support.service import MAC, on_sqlite

KEY = {"Idempotency-Key": '"8e03978e"', "Content-Type": "application/json"}


def post(service, headers=KEY, **fields):
    body = json.dumps({"mac": MAC, "text": "hello", **fields})
    return service.http().simulate_post("/api/ocr/text", body=body, headers=headers)


@pytest.mark.feature("H1")
def test_a_key_sent_again_with_its_content_is_the_same_task(service):
    first, again = post(service), post(service, mac="AA:BB:CC:DD:EE:FF")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json["task_id"] == again.json["task_id"]
    assert first.headers["Location"] == again.headers["Location"]
    assert (again.json["is_duplicate"], again.headers["Idempotency-Replayed"]) == (True, "true")
    assert "Idempotency-Replayed" not in first.headers
    assert len(service.row_ids()) == 1


@on_sqlite
def test_quotes_around_a_key_mean_nothing(service):
    bare = {**KEY, "Idempotency-Key": "8e03978e"}
    assert post(service).json["task_id"] == post(service, headers=bare).json["task_id"]


@on_sqlite
def test_a_key_sent_again_with_other_content_is_a_conflict(service):
    post(service)
    result = post(service, text="other")
    assert (result.status_code, result.json["type"]) == (409, "/problems/idempotency-conflict")
    assert len(service.row_ids()) == 1


@on_sqlite
def test_the_same_key_of_another_device_is_another_task(service):
    assert post(service).json["task_id"] != post(service, mac="aabbccddee01").json["task_id"]


@on_sqlite
def test_an_id_in_the_request_wins_over_a_key(service):
    assert post(service, task_id="t1").json["task_id"] == "t1"
    assert post(service, task_id="t1", text="other").json["type"] == "/problems/task-conflict"


@on_sqlite
@pytest.mark.parametrize("key", ["", '""', '"a', "a b", "\u00e9", "x" * 256, 'a"b'])
def test_a_key_that_is_not_one_is_refused(service, key):
    result = post(service, headers={**KEY, "Idempotency-Key": key})
    assert (result.status_code, result.json["type"]) == (400, "/problems/invalid-idempotency-key")
    assert service.traces() == ([], [], [])


@on_sqlite
def test_a_batch_sent_again_under_its_key_is_the_same_tasks(service):
    body = json.dumps({"tasks": [{"mac": MAC, "text": "a"}, {"mac": MAC, "text": "a"}]})
    first, again = (service.http().simulate_post("/api/ocr/text", body=body, headers=KEY).json for _ in range(2))
    ids = [[item["task"]["task_id"] for item in answer["results"]] for answer in (first, again)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2
    assert len(service.row_ids()) == 2
