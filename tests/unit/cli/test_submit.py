"""`fairlane submit`, against a small server in place of fairlane."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import run
from tests.support.http_service import Asked, HttpService, Reply, serving


class Fairlane:
    """Accepts every task and has it done, unless a test says otherwise; ids are t0, t1, ..."""

    def __init__(self) -> None:
        self.on_submit: Callable[[int], Reply | None] = lambda number: None
        self.end: dict[str, Any] = {
            "state": "done",
            "ocr": {"line_count": 2},
            "detection": {"suggestion": "block", "hits": [{"word": "loan\x1b"}]},
            "error": None,
        }
        self.submits = 0

    def answer(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            return Reply(200, {"task_id": asked.path.rpartition("/")[2].partition("?")[0], **self.end})
        number, self.submits = self.submits, self.submits + 1
        return self.on_submit(number) or Reply(202, {"task_id": f"t{number}", "state": "queued"})


@pytest.fixture
def fairlane() -> Fairlane:
    return Fairlane()


@pytest.fixture
def service(fairlane: Fairlane) -> Iterator[HttpService]:
    with serving(fairlane.answer) as service:
        yield service


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    for name in ("a.PNG", "more/b.jpg", "notes.txt"):
        (folder / name).write_bytes(name.encode())
    return folder


def submit(service: HttpService, *arguments: str) -> int:
    return run(["submit", "--url", service.url, "--mac", "02:aa:bb:cc:dd:ee", *arguments])


@pytest.mark.feature("H6")
def test_the_pictures_of_a_folder_are_sent_and_their_results_shown(
    service: HttpService, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(service, str(pictures), "-o", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(Path(row["name"]).name, row["state"], row["lines"]) for row in rows] == [
        ("a.PNG", "done", 2),
        ("b.jpg", "done", 2),
    ]


def test_a_file_that_is_named_is_sent_whatever_it_is_called(service: HttpService, pictures: Path) -> None:
    assert submit(service, str(pictures / "notes.txt")) == 0
    assert b"notes.txt" in service.asked[0].body


def test_texts_go_with_the_device_and_the_words(service: HttpService) -> None:
    assert submit(service, "--text", "hello", "--word", "loan", "--word", "x") == 0
    assert json.loads(service.asked[0].body) == {"mac": "02aabbccddee", "text": "hello", "words": ["loan", "x"]}


def test_hostile_words_cannot_command_the_terminal(service: HttpService, capsys: pytest.CaptureFixture[str]) -> None:
    assert submit(service, "--text", "hello") == 0
    out = capsys.readouterr().out
    assert "loan" in out
    assert "\x1b" not in out


def test_without_waiting_the_ids_are_shown_at_once(service: HttpService, capsys: pytest.CaptureFixture[str]) -> None:
    assert submit(service, "--text", "a", "--text", "b", "--no-wait", "-o", "jsonl") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["task_id"] for row in rows} == {"t0", "t1"}
    assert {asked.method for asked in service.asked} == {"POST"}


def test_a_task_that_failed_fails_the_command(
    service: HttpService, fairlane: Fairlane, capsys: pytest.CaptureFixture[str]
) -> None:
    fairlane.end = {"state": "failed", "error": {"code": "bad_image", "message": "cannot be read"}}
    assert submit(service, "--text", "a") == 1
    assert "cannot be read" in capsys.readouterr().out


def test_a_refused_input_does_not_keep_the_others_back(
    service: HttpService, fairlane: Fairlane, capsys: pytest.CaptureFixture[str]
) -> None:
    fairlane.on_submit = lambda number: Reply(415, {"detail": "no picture"}) if number == 0 else None
    assert submit(service, "--text", "a", "--text", "b", "-o", "json") == 1
    assert sorted(row["state"] for row in json.loads(capsys.readouterr().out)) == ["done", "refused"]


def test_a_full_service_is_asked_again_as_late_as_it_says(service: HttpService, fairlane: Fairlane) -> None:
    fairlane.on_submit = lambda number: Reply(429, {}, {"Retry-After": "1"}) if number == 0 else None
    assert submit(service, "--text", "a") == 0
    assert fairlane.submits == 2


def test_a_service_that_stays_full_ends_with_the_code_for_refused(
    service: HttpService, fairlane: Fairlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.cli.api._PATIENCE_MAX_S", 0)
    fairlane.on_submit = lambda _: Reply(503, {"detail": "full"})
    assert submit(service, "--text", "a") == 5


def test_nobody_there_ends_with_the_code_for_unreachable(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["submit", "--url", "http://127.0.0.1:9", "--text", "a", "--text", "b", "-o", "json"]) == 4
    assert [row["state"] for row in json.loads(capsys.readouterr().out)] == ["unreachable"] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no-such-file.png"],
        ["--text", "a", "--mac", "nonsense"],
        ["--text", "a", "--url", "file:///etc/hostname"],
        ["--text", "a", "-o", "xml"],
    ],
)
def test_a_wrong_command_line_is_a_usage_error(arguments: list[str]) -> None:
    assert run(["submit", *arguments]) == 2
