"""Submitting texts over HTTP, and everything that may be wrong with them."""

import json

import pytest

from tests.support.service import MAC, BrokenLedger, BrokenStore, SilentQueue, on_sqlite

PATH = "/api/ocr/text"
JSON = {"Content-Type": "application/json"}


def post(service, body, headers=JSON, **parts):
    data = body if isinstance(body, bytes | str) else json.dumps(body)
    return service.http(**parts).simulate_post(PATH, body=data, headers=headers)


def text(**changes):
    fields = {"mac": "AA:BB:CC:DD:EE:FF", "text": "hello", **changes}
    return {name: value for name, value in fields.items() if value is not ...}


def assert_refused(service, result, status, slug):
    assert (result.status_code, result.json["type"]) == (status, f"/problems/{slug}")
    assert result.headers["Content-Type"] == "application/problem+json"
    assert result.json["request_id"] == result.headers["X-Request-Id"]
    assert service.traces() == ([], [], [])


@pytest.mark.feature("H1")
@pytest.mark.feature("H2")
def test_a_text_is_accepted(service):
    result = post(service, text(task_id="t1", words=["red"], detection_id="d1"))
    assert result.status_code == 202
    assert result.json == {
        "task_id": "t1",
        "state": "queued",
        "is_duplicate": False,
        "mac": MAC,
        "lane": "text",
        "position": 1,
    }
    assert (result.headers["Location"], result.headers["Retry-After"]) == ("/api/ocr/tasks/t1", "1")
    assert service.ledger.get("t1").payload == {"text": "hello", "words": ["red"]}


def test_a_text_is_accepted_while_the_object_store_is_down(service):
    assert post(service, text(), store=BrokenStore()).status_code == 202


@pytest.mark.feature("Q13")
def test_the_same_text_again_is_a_duplicate(service):
    first = post(service, text(task_id="t1"))
    second = post(service, text(task_id="t1", mac="aabb.ccdd.eeff"))
    assert (second.status_code, second.json["is_duplicate"]) == (202, True)
    assert second.headers["Location"] == first.headers["Location"]
    assert service.inspector.lanes()[1].waiting == 1


def test_other_content_under_the_same_id_is_a_conflict(service):
    post(service, text(task_id="t1"))
    result = post(service, text(task_id="t1", text="other"))
    assert (result.status_code, result.json["errors"][0]["pointer"]) == (409, "/task_id")


@pytest.mark.parametrize(
    "content",
    ["<img src=x onerror=alert(1)>", 'x\n{"level":"ERROR","msg":"forged"}', "\u001b[2J\u202egpj.exe", "敏感词", "😀"],
)
def test_any_storable_text_is_kept_as_it_is(service, content):
    assert post(service, text(text=content, task_id="t1")).status_code == 202
    assert service.ledger.get("t1").payload["text"] == content


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"mac":',
        b'{"mac": NaN}',
        b'{"mac": Infinity}',
        b'{"score": 1e999}',
        b'{"mac": "a", "mac": "b"}',
        b'\xef\xbb\xbf{"mac": "aabbccddeeff", "text": "x"}',
        b'{"mac": "aabbccddeeff", "text": "\xff\xfe"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 10_000,
        b"null x",
    ],
)
def test_what_is_not_json_is_refused(service, body):
    assert_refused(service, post(service, body), 400, "invalid-json")


@on_sqlite
@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/mac", "/text"]),
        ([], [""]),
        ("x", [""]),
        (None, [""]),
        (text(text=123), ["/text"]),
        (text(text=""), ["/text"]),
        (text(text="\ud800"), ["/text"]),
        (text(text="a\x00b"), ["/text"]),
        (text(text="x" * 100_001), ["/text"]),
        (text(status="approved", attempt=0), ["/status", "/attempt"]),
        (text(words=["a", 1, ""]), ["/words/1", "/words/2"]),
        (text(task_id="a b", detection_id=5), ["/task_id", "/detection_id"]),
        ({"tasks": []}, ["/tasks"]),
        ({"tasks": {}}, ["/tasks"]),
        ({"tasks": [text()] * 101}, ["/tasks"]),
        ({"tasks": [text()], "mac": MAC}, ["/mac"]),
        ({"__proto__": {"x": 1}, "constructor": 1, **text()}, ["/__proto__", "/constructor"]),
    ],
)
def test_wrong_fields_are_all_named(service, body, pointers):
    result = post(service, json.dumps(body))
    assert_refused(service, result, 422, "validation-failed")
    assert [error["pointer"] for error in result.json["errors"]] == pointers


@on_sqlite
@pytest.mark.parametrize(
    "mac", ["zz:zz:zz:zz:zz:zz", "*:*:*:*:*:*", "", "１２３４５６７８９０１２", "aa:bb-cc:dd:ee:ff"]
)
def test_a_wrong_mac_is_named(service, mac):
    result = post(service, text(mac=mac))
    assert_refused(service, result, 422, "invalid-mac")
    assert [error["pointer"] for error in result.json["errors"]] == ["/mac"]


@on_sqlite
def test_no_refusal_repeats_what_was_sent(service):
    result = post(service, {"mac": "hush", "text": {"hush": "hush"}, "<hush>": 1, "task_id": "hush hush"})
    assert result.status_code == 422
    assert "hush" not in result.text


@on_sqlite
@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json; charset=utf-7", "multipart/form-data"])
def test_another_content_type_is_refused(service, content_type):
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert_refused(service, post(service, text(), headers), 415, "unsupported-media-type")


@on_sqlite
@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip"])
def test_a_compressed_body_is_refused(service, encoding):
    result = post(service, text(), {**JSON, "Content-Encoding": encoding})
    assert_refused(service, result, 415, "unsupported-media-type")


@pytest.mark.parametrize("word", [" ", "\u3000", "\u200b", "\uffff"])
def test_a_word_that_no_list_can_hold_is_refused_at_once(service, word):
    result = post(service, text(words=["fine", word]))
    assert_refused(service, result, 422, "validation-failed")
    assert result.json["errors"][0]["pointer"] == "/words/1"


def test_a_conflict_in_a_batch_is_named_by_its_place(service):
    post(service, text(task_id="t1"))
    result = post(service, {"tasks": [text(), text(task_id="t1", text="other")]})
    assert result.json["results"][1]["problem"]["errors"][0]["pointer"] == "/tasks/1/task_id"


@pytest.mark.parametrize("query", ["words=%B2%E2", "words=%ff", "%ff=1"])
def test_a_query_that_is_not_utf8_is_refused(service, query):
    result = service.http().simulate_post(PATH, body=json.dumps(text()), headers=JSON, query_string=query)
    assert_refused(service, result, 400, "invalid-parameter")


def test_a_body_that_is_too_large_is_refused_before_it_is_read(service):
    headers = {**JSON, "Content-Length": "1000000000"}
    assert_refused(service, post(service, text(), headers), 413, "body-too-large")


@on_sqlite
def test_query_parameters_are_refused(service):
    result = service.http().simulate_post(PATH, body="{}", headers=JSON, query_string="mac=x")
    assert_refused(service, result, 400, "unknown-parameter")


@pytest.mark.feature("H1")
def test_each_task_of_a_batch_is_answered_on_its_own(service):
    post(service, text(task_id="taken"))
    tasks = [
        text(task_id="new"),
        text(mac="zz"),
        text(task_id="taken"),
        text(task_id="taken", text="other"),
        {"mac": MAC, "status": 1},
        5,
    ]
    result = post(service, {"tasks": tasks})
    assert (result.status_code, result.json["accepted"], result.json["refused"]) == (202, 2, 4)
    answers = result.json["results"]
    assert [answer["index"] for answer in answers] == [0, 1, 2, 3, 4, 5]
    assert [answer["status"] for answer in answers] == [202, 422, 202, 409, 422, 422]
    assert (answers[0]["task"]["task_id"], answers[0]["problem"]) == ("new", None)
    assert answers[2]["task"]["is_duplicate"]
    assert answers[1]["problem"]["errors"][0]["pointer"] == "/tasks/1/mac"
    assert [error["pointer"] for error in answers[4]["problem"]["errors"]] == ["/tasks/4/text", "/tasks/4/status"]
    assert answers[5]["problem"]["errors"] == [{"pointer": "/tasks/5", "detail": "must be an object"}]


@pytest.mark.feature("Q11")
def test_a_batch_over_the_limit_of_its_device_is_accepted_up_to_it(service_of):
    service = service_of(max_per_mac_pending=2)
    result = post(service, {"tasks": [text(text=str(i)) for i in range(3)] + [text(mac="0" * 12)]})
    assert [answer["status"] for answer in result.json["results"]] == [202, 202, 429, 202]
    assert result.json["results"][2]["problem"]["retry_after"] >= 1


def test_a_batch_does_not_wait_for_each_task_when_the_queue_is_silent(service):
    class CountingQueue(SilentQueue):
        calls = 0

        def enqueue(self, *args, **options):
            CountingQueue.calls += 1
            return super().enqueue(*args, **options)

    queue = service.queue_like(CountingQueue)
    result = post(service, {"tasks": [text(text=str(i)) for i in range(5)]}, queue=queue)
    assert [answer["status"] for answer in result.json["results"]] == [503] * 5
    assert CountingQueue.calls == 1
    assert service.row_ids() == []


@pytest.mark.parametrize(
    "broken",
    [
        lambda service: {"queue": service.queue_like(SilentQueue)},
        lambda service: {"ledger": BrokenLedger(service.database, service.clock)},
    ],
)
def test_a_part_that_is_down_is_a_503_without_a_trace(service, broken):
    result = post(service, text(), **broken(service))
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
    assert int(result.headers["Retry-After"]) == result.json["retry_after"]
    assert "10.1.2.3" not in result.text
    assert service.row_ids() == []
