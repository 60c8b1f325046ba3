"""Submitting an image over HTTP, in every form."""

import pytest

from pipeline.submission import ImageSubmission
from tests.support.service import MAC, BrokenLedger, BrokenStore, SilentQueue, on_sqlite
from tests.support.uploads import (
    GOOD_FORM,
    IMAGE_PART,
    JSON,
    MAC_PART,
    PNG,
    form,
    json_body,
    part,
    post_image,
)


@pytest.mark.feature("H1")
def test_a_form_is_accepted(service):
    body = form(
        part("words", "red\nblue"),
        IMAGE_PART,
        MAC_PART,
        part("words", "green"),
        part("task_id", "t1"),
        part("detection_id", "d1"),
    )
    result = post_image(service, body)
    assert result.status_code == 202
    assert result.json == {
        "task_id": "t1",
        "state": "queued",
        "is_duplicate": False,
        "mac": MAC,
        "lane": "ocr",
        "position": 1,
    }
    assert result.headers["Location"] == "/api/ocr/tasks/t1"
    assert int(result.headers["Retry-After"]) >= 1
    row = service.ledger.get("t1")
    assert (row.payload["words"], row.detection_id) == (["red", "blue", "green"], "d1")
    assert service.store.get(row.payload["object"]) == PNG


@pytest.mark.feature("H1")
def test_json_is_accepted(service):
    result = post_image(service, json_body(words=["red"], task_id="t1"), JSON)
    assert result.status_code == 202
    row = service.ledger.get("t1")
    assert (row.payload["words"], service.store.get(row.payload["object"])) == (["red"], PNG)


@pytest.mark.feature("H1")
@pytest.mark.parametrize("content_type", ["image/png", "application/octet-stream", "image/whatever"])
def test_a_raw_body_is_accepted(service, content_type):
    query = "mac=aa-bb-cc-dd-ee-ff&task_id=t1&words=red&words=blue"
    result = post_image(service, PNG, {"Content-Type": content_type}, query)
    assert result.status_code == 202
    row = service.ledger.get("t1")
    assert (row.payload["words"], service.store.get(row.payload["object"])) == (["red", "blue"], PNG)


@pytest.mark.feature("Q13")
def test_the_same_image_in_another_form_is_the_same_task(service):
    post_image(service, form(MAC_PART, IMAGE_PART, part("task_id", "t1")))
    result = post_image(service, json_body(task_id="t1"), JSON)
    assert (result.status_code, result.json["is_duplicate"]) == (202, True)
    assert result.headers["Location"] == "/api/ocr/tasks/t1"
    assert len(service.objects()) == 1


def test_other_content_under_the_same_id_is_a_conflict(service):
    post_image(service, json_body(task_id="t1"), JSON)
    result = post_image(service, json_body(task_id="t1", words=["x"]), JSON)
    assert (result.status_code, result.json["type"]) == (409, "/problems/task-conflict")
    assert result.json["errors"][0]["pointer"] == "/task_id"


@on_sqlite
def test_a_file_name_is_never_used(service):
    odd = b'--BB\r\nContent-Disposition: form-data; name="file"; filename="../../etc/passwd"\r\n\r\n' + PNG + b"\r\n"
    assert post_image(service, form(MAC_PART, odd, part("task_id", "t1"))).status_code == 202
    assert "passwd" not in str(service.objects())


@pytest.mark.parametrize(
    "broken",
    [
        lambda service: {"queue": service.queue_like(SilentQueue)},
        lambda service: {"store": BrokenStore()},
        lambda service: {"ledger": BrokenLedger(service.database, service.clock)},
    ],
)
def test_a_part_that_is_down_is_a_503_without_a_trace(service, broken):
    result = post_image(service, GOOD_FORM, **broken(service))
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
    assert int(result.headers["Retry-After"]) == result.json["retry_after"]
    assert "10.1.2.3" not in result.text
    assert (service.row_ids(), service.objects()) == ([], [])


@pytest.mark.feature("Q11")
def test_a_full_device_is_told_429_and_when_to_come_back(service_of):
    service = service_of(max_per_mac_pending=1)
    service.intake().submit_image(ImageSubmission(mac=MAC, image=PNG))
    result = post_image(service, GOOD_FORM)
    assert (result.status_code, result.json["type"]) == (429, "/problems/device-backlog-full")
    assert int(result.headers["Retry-After"]) >= 1


@pytest.mark.feature("Q11")
def test_a_full_service_is_told_503_and_when_to_come_back(service_of):
    service = service_of(max_total_pending=1, max_per_mac_pending=1)
    service.intake().submit_image(ImageSubmission(mac="0" * 12, image=PNG))
    result = post_image(service, GOOD_FORM)
    assert (result.status_code, result.json["type"]) == (503, "/problems/queue-full")
    assert int(result.headers["Retry-After"]) >= 1
