"""What the demo says at its end."""

from typing import Any

import pytest

from pipeline.cli.demo_report import show_reading, show_waits
from pipeline.cli.demo_scene import Device
from pipeline.cli.terminal import open_console


def answer(lane: str, wait_ms: int, **more: Any) -> dict[str, Any]:
    times = {"created_ms": 1_000, "started_ms": 1_000 + wait_ms}
    return {"task_id": "t", "lane": lane, "state": "done", "ocr": None, "detection": None, **times, **more}


def device(name: str, answers: list[dict[str, Any]], *, is_flooding: bool) -> Device:
    return Device(name, "020000000001", [], ["x"] * len(answers), is_flooding, answers)


def test_each_device_is_shown_with_its_waits(capsys: pytest.CaptureFixture[str]) -> None:
    flood = device("flooding", [answer("ocr", ms) for ms in (1_000, 2_000, 40_000)], is_flooding=True)
    light = device("light", [answer("ocr", 1_600), answer("text", 200)], is_flooding=False)
    show_waits([flood, light], open_console())
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("flooding")).split()[2:] == (
        ["3", "3", "0", "2.0", "s", "40.0", "s"]
    )
    assert next(line for line in lines if line.startswith("light")).split()[2:] == (
        ["2", "2", "0", "1.6", "s", "1.6", "s", "0.2", "s"]
    )
    assert "waited 40.0 s" in lines[-1]
    assert "1.6 s at most" in lines[-1]


def test_a_device_of_which_nothing_ended_has_no_waits(capsys: pytest.CaptureFixture[str]) -> None:
    show_waits([device("flooding", [], is_flooding=True)], open_console())
    assert "flooding" in capsys.readouterr().out


def test_the_picture_with_most_hits_is_shown_and_cannot_command_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hit = {"word": "loan", "start": 6, "end": 10}
    page = {"text": "quick\x1bloan", "width_px": 8, "height_px": 6, "line_count": 1, "mean_confidence": 0.987}
    answers = [
        answer("ocr", 1, ocr={**page, "text": "nothing"}, detection={"suggestion": "pass", "hits": []}),
        answer("ocr", 1, ocr=page, detection={"suggestion": "block", "hits": [hit]}),
    ]
    show_reading([device("light", answers, is_flooding=False)], open_console())
    out = capsys.readouterr().out
    assert "quick\N{REPLACEMENT CHARACTER}loan" in out
    assert "hits: loan at 6-10; suggestion: block" in out


def test_without_pictures_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_reading([device("light", [answer("text", 1)], is_flooding=False)], open_console())
    assert capsys.readouterr().out == ""
