"""Logging: one event, one line, and nothing that a terminal would obey."""

import json
import logging

import pytest

from pipeline.log import JsonFormatter, bound_fields


def line_of(message: str, **extra: object) -> str:
    record = logging.makeLogRecord({"name": "t", "levelname": "INFO", "msg": message, **extra})
    return JsonFormatter().format(record)


def test_a_line_carries_what_is_bound_and_what_is_given() -> None:
    with bound_fields(task_id="t1", lane="ocr"), bound_fields(lane="text"):
        line = json.loads(line_of("done", run_ms=5))

    assert {"message": "done", "level": "info", "task_id": "t1", "lane": "text", "run_ms": 5}.items() <= line.items()


def test_what_was_bound_is_gone_after_the_block() -> None:
    with bound_fields(task_id="t1"):
        pass

    assert "task_id" not in json.loads(line_of("later"))


@pytest.mark.parametrize(
    "hostile", ["a\nb", '{"level":"error"}', "\x1b[2J", "\x9b2J", "\u202egpj.exe", "\u2028", "\ud800"]
)
def test_hostile_text_stays_inside_its_value(hostile: str) -> None:
    line = line_of(hostile)

    assert json.loads(line)["message"] == hostile
    assert line.isprintable()


def test_chinese_stays_readable() -> None:
    assert "加微信" in line_of("加微信")


def test_a_traceback_is_one_value_of_the_same_line() -> None:
    try:
        raise ValueError("no")
    except ValueError as exc:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": (type(exc), exc, exc.__traceback__)})

    line = JsonFormatter().format(record)

    assert "ValueError: no" in json.loads(line)["traceback"]
    assert "\n" not in line
