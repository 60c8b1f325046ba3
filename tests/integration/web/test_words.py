"""A text is screened at once, without a task."""

import json
from typing import Any

import pytest

from tests.support.service import on_sqlite


def post(service: Any, body: Any) -> Any:
    headers = {"Content-Type": "application/json"}
    return service.http().simulate_post("/api/words/try", body=json.dumps(body), headers=headers)


@on_sqlite
@pytest.mark.feature("D5")
def test_a_text_is_screened_by_the_global_list_and_the_words_of_the_request(service):
    result = post(service, {"text": "😀刷-单，加微 信，电话13800138000", "words": ["微信"]})

    assert result.status_code == 200
    answer = result.json
    assert [(hit["word"], hit["list"], hit["start"], hit["start_utf16"]) for hit in answer["hits"]] == [
        ("刷单", "global", 1, 2),
        ("微信", "request", 6, 7),
    ]
    assert [(one["kind"], one["value"], one["action"]) for one in answer["contacts"]] == [
        ("phone_cn", "13800138000", "tag")
    ]
    assert (answer["suggestion"], answer["level"]) == ("block", 3)
    assert answer["masked"] == "😀***，加***，电话13800138000"
    assert service.traces() == ([], [], [])


@on_sqlite
def test_a_clean_text_passes(service):
    answer = post(service, {"text": "今天下午三点开会"}).json

    assert (answer["suggestion"], answer["hits"], answer["contacts"], answer["score"]) == ("pass", [], [], 0)
    assert answer["masked"] is None


@on_sqlite
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/text"),
        ({"text": ""}, "/text"),
        ({"text": "x" * 100_001}, "/text"),
        ({"text": "half \ud83d"}, "/text"),
        ({"text": "x", "words": ["a"] * 100_000}, "/words"),
        ({"text": "x", "words": ["good", ""]}, "/words/1"),
        ({"text": "x", "words": ["\u200b\u0301"]}, "/words/0"),
        ({"text": "x", "mac": "aabbccddee"}, "/mac"),
        ({"text": "x", "site": "a b"}, "/site"),
        ({"text": "x", "list": "house"}, "/list"),
    ],
)
def test_bad_input_is_refused_with_its_place(service, body, pointer):
    result = post(service, body)

    assert result.status_code == 422
    assert [error["pointer"] for error in result.json["errors"]] == [pointer]


@on_sqlite
def test_a_text_of_ten_megabytes_is_refused_before_it_is_read(service):
    assert post(service, {"text": "微" * 10_000_000}).status_code == 413
