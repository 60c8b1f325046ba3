"""The state of a task over HTTP: shown, waited for, cancelled."""

import pytest

from models.ledger import DetectionRecord, Finished, OcrRecord, StepRecord
from pipeline.submission import ImageSubmission, TextSubmission
from tests.support.pictures import corner_marked, encoded
from tests.support.service import MAC, on_sqlite

HIT = {"word": "bad", "list": "global", "start": 0, "end": 3, "start_utf16": 0, "end_utf16": 3, "surface": "BAD"}
LINE = {"text": "BAD", "confidence": 0.9, "box": [[0, 0], [9, 0], [9, 9], [0, 9]]}
OCR = OcrRecord("BAD", [LINE], 1, 0.9, 60, 40, "rapid", "ch_v5", {"decode": 1, "read": 5}, 0.5, 3, "down", "t0")


def submitted(service, task_id="t1", **fields):
    service.intake().submit_text(TextSubmission(mac=MAC, text="hello", task_id=task_id, **fields))


def finish(service, task_id="t1", lane="text", ocr=None):
    (claim,) = service.queue.claim(lane)
    service.queue.start(task_id, claim.token)
    service.ledger.start(task_id, claim.token, 1)
    steps = [StepRecord("screen", "done", service.clock.now_ms(), service.clock.now_ms())]
    service.ledger.finish(task_id, claim.token, Finished(ocr, DetectionRecord("BAD", "block", [HIT]), steps, 5))
    service.queue.complete(task_id, claim.token, cost_ms=5)


def get(service, task_id="t1", query="", headers=None, **parts):
    return service.http(**parts).simulate_get(f"/api/ocr/tasks/{task_id}", query_string=query, headers=headers)


@pytest.mark.feature("H1")
def test_a_waiting_task_shows_its_place(service):
    submitted(service, "t0")
    submitted(service)
    result = get(service)
    assert result.status_code == 200
    now_ms = service.clock.now_ms()
    assert result.json == {
        "task_id": "t1",
        "mac": MAC,
        "lane": "text",
        "state": "queued",
        "attempts": 0,
        "created_ms": now_ms,
        "started_ms": None,
        "ended_ms": None,
        "due_ms": None,
        "steps": [
            {"name": "enqueued", "state": "done", "started_ms": now_ms, "ended_ms": now_ms, "reason": ""},
        ],
        "ocr": None,
        "detection": None,
        "error": None,
        "position": 2,
        "waiting": {
            "reason": "no_capable_worker",
            "until_ms": None,
            "ahead_in_line": 1,
            "devices_ahead": 0,
            "wait_ms": None,
        },
    }
    assert int(result.headers["Retry-After"]) >= 1


@pytest.mark.feature("H1")
@pytest.mark.feature("O4")
def test_a_task_that_is_done_shows_what_was_read_and_found(service):
    image = ImageSubmission(mac=MAC, image=encoded(corner_marked()), task_id="t1")
    service.intake().submit_image(image)
    service.clock.advance(10)
    finish(service, lane="ocr", ocr=OCR)
    result = get(service)
    assert (result.json["state"], result.json["attempts"], result.json["error"]) == ("done", 1, None)
    detection = result.json["detection"]
    assert detection["suggestion"] == "block"
    assert [{name: hit[name] for name in HIT} for hit in detection["hits"]] == [HIT]
    assert (detection["contacts"], detection["level"], detection["masked"]) == ([], 0, None)
    assert detection["text"] is None, "it stands in ocr"
    assert result.json["ocr"] == {
        "text": "BAD",
        "lines": [LINE],
        "line_count": 1,
        "mean_confidence": 0.9,
        "width_px": 60,
        "height_px": 40,
        "engine": "rapid",
        "model": "ch_v5",
        "duration_ms": {"decode": 1, "read": 5},
        "scale": 0.5,
        "tiles": 3,
        "direction": "down",
        "reused_from": "t0",
    }
    assert [step["name"] for step in result.json["steps"]] == ["enqueued", "screen", "notify"]
    assert "Retry-After" not in result.headers


@pytest.mark.feature("O4")
def test_a_text_is_shown_beside_what_was_found_in_it(service):
    submitted(service)
    finish(service)
    result = get(service).json
    assert (result["ocr"], result["detection"]["text"]) == (None, "BAD")


def test_a_task_that_failed_says_why(service):
    submitted(service)
    service.ledger.close("t1", "expired", "expired", "waited too long")
    assert get(service).json["error"] == {"code": "expired", "message": "waited too long"}


@on_sqlite
@pytest.mark.parametrize("task_id", ["unknown", "a%00b", "%ff%fe", "a" * 65, "..%2f..%2fetc", "a b", "t1;--"])
def test_an_id_that_is_not_one_is_not_found(service, task_id):
    result = get(service, task_id)
    assert (result.status_code, result.json["type"]) == (404, "/problems/not-found")


@on_sqlite
@pytest.mark.parametrize("path", ["/api/ocr/tasks/../../etc/passwd", "/api/ocr/tasks/", "/api/ocr/tasks/t1/", "/.env"])
def test_a_path_that_is_not_one_is_not_found(service, path):
    result = service.http().simulate_get(path)
    assert (result.status_code, result.json["type"]) == (404, "/problems/not-found")


@on_sqlite
@pytest.mark.parametrize(
    "query", ["wait=abc", "wait=-1", "wait=", "wait=1.5", "wait=1&wait=2", "wait=%D9%A1", "wait=9999999"]
)
def test_a_wrong_wait_is_refused(service, query):
    submitted(service)
    result = get(service, query=query)
    assert (result.status_code, result.json["type"]) == (400, "/problems/invalid-parameter")
    assert result.json["errors"][0]["pointer"] == "wait"


@on_sqlite
def test_an_unknown_parameter_is_refused(service):
    result = get(service, query="stat=failed")
    assert (result.status_code, result.json["type"]) == (400, "/problems/unknown-parameter")


@pytest.mark.feature("H1")
def test_a_long_poll_ends_when_the_task_does(service):
    submitted(service)
    service.on_pause = lambda: finish(service) if len(service.pauses) == 3 else None
    result = get(service, query="wait=20")
    assert result.json["state"] == "done"
    assert len(service.pauses) == 3


def test_a_long_poll_gives_up_after_the_time_asked_for(service):
    submitted(service)
    result = get(service, query="wait=5")
    assert result.json["state"] == "queued"
    assert sum(service.pauses) == pytest.approx(5, abs=0.01)
    assert len(service.pauses) < 15


def test_a_long_poll_lasts_no_longer_than_the_server_allows(service_of):
    service = service_of(long_poll_max_seconds=2)
    submitted(service)
    get(service, query="wait=3600")
    assert sum(service.pauses) == pytest.approx(2, abs=0.01)


def test_an_ended_task_is_not_waited_for(service):
    submitted(service)
    finish(service)
    assert get(service, query="wait=20").json["state"] == "done"
    assert service.pauses == []


def test_waiting_clients_leave_threads_for_others(service_of):
    service = service_of(web_threads=2)
    submitted(service)
    client = service.http()
    answers = []

    def ask_again() -> None:
        if len(service.pauses) == 1:
            answers.append(client.simulate_get("/api/ocr/tasks/t1", query_string="wait=20").json["state"])
            finish(service)

    service.on_pause = ask_again
    assert client.simulate_get("/api/ocr/tasks/t1", query_string="wait=20").json["state"] == "done"
    assert answers == ["queued"]


def test_an_unchanged_task_is_not_sent_again(service):
    submitted(service)
    first = get(service)
    again = get(service, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    finish(service)
    assert get(service, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_a_task_is_shown_though_the_queue_is_silent(service):
    submitted(service)
    result = get(service, inspector=service.silent_inspector())
    assert (result.status_code, result.json["state"], result.json["position"]) == (200, "queued", None)


def delete(service, task_id="t1"):
    return service.http().simulate_delete(f"/api/ocr/tasks/{task_id}")


@pytest.mark.feature("H1")
def test_a_waiting_task_can_be_cancelled(service):
    submitted(service)
    result = delete(service)
    assert (result.status_code, result.json["state"]) == (200, "cancelled")
    assert service.ledger.get("t1").state == "cancelled"
    assert not service.queue.claim("text")
    assert all(books.balances for books in service.inspector.audit())


def test_a_running_task_can_be_cancelled(service):
    submitted(service)
    (claim,) = service.queue.claim("text")
    service.queue.start("t1", claim.token)
    service.ledger.start("t1", claim.token, 1)
    assert delete(service).json["state"] == "cancelled"
    assert service.inspector.find("t1").state == "cancelled"


def test_a_task_that_is_not_in_line_can_be_cancelled(service):
    submitted(service)
    service.client.flushdb()
    assert delete(service).json["state"] == "cancelled"


def test_a_task_that_has_ended_cannot_be_cancelled(service):
    submitted(service)
    finish(service)
    result = delete(service)
    assert (result.status_code, result.json["type"]) == (409, "/problems/task-ended")
    assert service.ledger.get("t1").state == "done"


@on_sqlite
def test_an_unknown_task_cannot_be_cancelled(service):
    assert delete(service, "unknown").status_code == 404


@on_sqlite
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "TRACE"])
def test_other_methods_are_named(service, method):
    result = service.http().simulate_request(method, "/api/ocr/tasks/t1")
    assert result.status_code == 405
    assert set(result.headers["Allow"].split(", ")) == {"GET", "HEAD", "DELETE", "OPTIONS"}
    assert result.headers["Content-Type"] == "application/problem+json"


def test_a_task_finished_just_now_is_not_cancelled_in_the_queue_either(service):
    submitted(service)
    (claim,) = service.queue.claim("text")
    service.queue.start("t1", claim.token)
    service.ledger.start("t1", claim.token, 1)
    service.ledger.finish("t1", claim.token, Finished(None, DetectionRecord("x", "pass", []), [], 5))
    assert delete(service).status_code == 409
    service.queue.complete("t1", claim.token, cost_ms=5)
    assert service.inspector.find("t1").state == "done"
