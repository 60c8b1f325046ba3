"""Tasks over HTTP: pages, filters, files."""

import csv
import io
import json

import pytest

from models.ledger import DetectionRecord, Finished
from pipeline.submission import TextSubmission
from tests.support.service import MAC, on_sqlite

PATH = "/api/ocr/tasks"
HIT = {"word": "=cmd", "list": "global", "start": 0, "end": 3, "start_utf16": 0, "end_utf16": 3, "surface": "BAD"}


def submitted(service, *task_ids, text="hello"):
    for task_id in task_ids:
        service.intake().submit_text(TextSubmission(mac=MAC, text=text, task_id=task_id))
        service.clock.advance(10)


def finish(service, text, hits):
    (claim,) = service.queue.claim("text")
    service.queue.start(claim.task_id, claim.token)
    service.ledger.start(claim.task_id, claim.token, 1)
    outcome = Finished(None, DetectionRecord(text, "block" if hits else "pass", hits), [], 5)
    service.ledger.finish(claim.task_id, claim.token, outcome)
    service.queue.complete(claim.task_id, claim.token, cost_ms=5)


def get(service, query="", headers=None, path=PATH):
    return service.http().simulate_get(path, query_string=query, headers=headers)


def shown(result):
    assert result.status_code == 200, result.text
    return [task["task_id"] for task in result.json["tasks"]]


@pytest.mark.feature("H1")
def test_pages_lead_from_one_to_the_next_with_their_filters(service):
    submitted(service, "t0", "t1", "t2")
    first = get(service, "limit=2&mac=AA-BB-CC-DD-EE-FF&state=queued")
    assert shown(first) == ["t2", "t1"]
    path, _, query = first.json["next"].partition("?")
    submitted(service, "t3")
    second = get(service, query, path=path)
    assert shown(second) == ["t0"]
    assert second.json["next"] is None


@pytest.mark.feature("H1")
def test_a_listed_task_says_what_it_is_and_what_was_found(service):
    submitted(service, "t0")
    now_ms = service.clock.now_ms()
    finish(service, "BAD", [HIT])
    assert get(service, "hit=true").json["tasks"] == [
        {
            "task_id": "t0",
            "mac": MAC,
            "lane": "text",
            "state": "done",
            "attempts": 1,
            "code": "",
            "reason": "",
            "size_bytes": 5,
            "detection_id": None,
            "image_sha256": None,
            "created_ms": now_ms - 10,
            "started_ms": now_ms,
            "ended_ms": now_ms,
            "suggestion": "block",
            "label": "",
            "level": 0,
            "hit_count": 1,
            "words": ["=cmd"],
        }
    ]
    assert shown(get(service, "hit=false")) == []
    assert shown(get(service, "text=bad")) == ["t0"]


@on_sqlite
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("from=1970-01-01T00:00:00Z", ["t0"]),
        ("from=1970-01-01T00:00:00%2B08:00&until=2200-01-01t00:00:00z", ["t0"]),
        ("until=5", []),
        ("from=9999999999999", []),
        ("lane=ocr", []),
    ],
)
def test_times_and_lanes_choose(service, query, found):
    submitted(service, "t0")
    assert shown(get(service, query)) == found


@on_sqlite
def test_an_unchanged_page_is_not_sent_again(service):
    submitted(service, "t0")
    first = get(service)
    assert get(service, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    submitted(service, "t1")
    assert get(service, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


@pytest.mark.feature("H1")
def test_a_csv_file_holds_every_task_and_no_formula(service):
    submitted(service, *(f"t{number}" for number in range(3)))
    finish(service, "=1+1", [HIT])
    finish(service, '"quoted", \u7b2c\u4e00\n=2', [])
    finish(service, "\t-1", [])
    result = get(service, "format=csv&bom=true")
    assert result.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert result.headers["Content-Disposition"] == 'attachment; filename="tasks.csv"'
    assert result.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(result.content.decode("utf-8-sig"), newline="")))
    assert [row["task_id"] for row in rows] == ["t2", "t1", "t0"]
    assert [row["text"] for row in rows] == ["'\t-1", '"quoted", \u7b2c\u4e00\n=2', "'=1+1"]
    assert rows[2]["words"] == "'=cmd"
    assert not get(service, "format=csv").content.startswith(b"\xef")


@pytest.mark.feature("H1")
def test_a_file_of_json_lines_holds_what_the_filters_choose(service):
    submitted(service, "t0", "t1")
    finish(service, "BAD", [HIT])
    result = get(service, "format=jsonl&state=done")
    assert result.headers["Content-Type"] == "application/jsonl"
    lines = [json.loads(line) for line in result.text.splitlines()]
    assert [(line["task_id"], line["text"], line["words"]) for line in lines] == [("t0", "BAD", ["=cmd"])]


@on_sqlite
def test_a_file_is_logged_once_with_its_length(service, caplog):
    submitted(service, "t0")
    with caplog.at_level("INFO"):
        result = get(service, "format=jsonl")
    (line,) = [record for record in caplog.records if record.message == "request" and record.path == PATH]
    assert (line.status, line.bytes) == (200, len(result.content))
