"""Commands beside a running fairlane that is as it should be: `doctor`, `bench`, `watch`, `dead-letter replay`."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.cli import run
from pipeline.samples import sample_images
from pipeline.settings import environment_of
from tests.acceptance.conftest import Running

pytestmark = pytest.mark.feature("H6")


@pytest.fixture
def answer(
    fairlane: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Run a command with the settings of the running fairlane; return the JSON it prints."""
    for name, value in environment_of(fairlane.settings).items():
        monkeypatch.setenv(name, value)

    def answer(*arguments: str) -> Any:
        assert run([*arguments, "-o", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def test_doctor_finds_nothing_wrong_while_everything_runs(answer: Callable[..., Any]) -> None:
    assert [check for check in answer("doctor")["checks"] if not check["is_fine"]] == []


def test_bench_sends_texts_and_pictures_and_says_how_long_they_took(answer: Callable[..., Any]) -> None:
    pictures, texts = answer("bench", "--texts", "12", "--images", "2")

    assert (pictures["lane"], pictures["tasks"], pictures["done"]) == ("ocr", 2, 2)
    assert (texts["lane"], texts["tasks"], texts["done"]) == ("text", 12, 12)
    assert texts["tasks_per_s"] > 0
    assert 0 <= texts["wait_p50_ms"] <= texts["wait_p99_ms"] <= texts["whole_p99_ms"]
    # Each picture was really read: none was answered with the reading of another.
    assert pictures["run_p50_ms"] > 50


def test_bench_says_what_it_measured_in_words(answer: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--texts", "3", "--images", "0"]) == 0

    out = capsys.readouterr().out
    assert "whole p99" in out
    assert "sent by 4 threads of this host" in out


def test_watch_shows_who_works(answer: Callable[..., Any]) -> None:
    look = answer("watch", "--count", "1")

    assert [lane["lane"] for lane in look["lanes"]] == ["ocr", "text", "notify"]
    assert {worker["engine"] for worker in look["workers"]} == {"rapid", "none"}


def test_a_replay_that_is_waited_for_has_been_done(fairlane: Running, answer: Callable[..., Any]) -> None:
    whole = sample_images()[0][1]
    task_id = fairlane.api.submit_image("cut.png", whole[: len(whole) // 2], "0a:00:00:00:00:04")["task_id"]
    assert fairlane.api.task(task_id, wait_s=30)["state"] == "failed"

    assert answer("dead-letter", "replay", "--task", task_id, "--wait")["letters"] == 1

    letters = answer("dead-letter", "list", "--task", task_id)
    assert letters[-1]["replayed_ms"] is not None
