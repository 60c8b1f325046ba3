"""`fairlane key`, on a real SQLite file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.base import bind, connect
from models.keys import ApiKeys
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.settings import load_settings

Answer = Callable[..., Any]


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Run a command that succeeds; return the JSON it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))

    def answer(*arguments: str) -> Any:
        assert run(["key", *arguments, "-o", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def kept() -> ApiKeys:
    database = connect(load_settings().effective_database_url)
    bind(database)
    return ApiKeys(database, SystemClock())


@pytest.mark.feature("H3")
def test_a_key_is_made_before_the_first_start_and_shown_once(answer: Answer) -> None:
    made = answer("create", "gate", "--role", "device", "--site", "north", "--mac", "AA-BB-CC-DD-EE-FF")
    assert made["key"].startswith(f"fl_{made['key_id']}_")
    assert (made["macs"], made["state"], made["must_sign"]) == (["aabbccddeeff"], "valid", False)
    shown = answer("show", made["key_id"])
    assert shown == {name: value for name, value in made.items() if name != "key"}
    assert "key_hash" not in shown
    assert answer("list") == [shown]
    assert answer("list", "--site", "south") == []


@pytest.mark.feature("H3")
def test_keys_are_rotated_and_revoked_and_all_of_that_is_recorded(answer: Answer) -> None:
    made = answer("create", "ops", "--role", "admin", "--site", "*", "--expires", "90d", "--signed")
    new = answer("rotate", made["key_id"], "--overlap", "2h")
    assert [key["state"] for key in answer("list")] == ["ending", "valid"]
    assert new["key"] != made["key"]
    assert answer("revoke", made["key_id"], "--yes")["state"] == "revoked"
    lines = answer("audit")
    assert [(line["action"], line["outcome"]) for line in lines] == [
        ("key revoke", "done"),
        ("key rotate", "done"),
        ("key create", "done"),
    ]
    assert all(line["actor"].startswith("cli:") for line in lines)
    assert made["key"].rpartition("_")[2] not in json.dumps(lines)


def test_a_refused_rotation_is_recorded_as_failed(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer("create", "ops", "--role", "viewer", "--site", "local")
    answer("revoke", made["key_id"], "--yes")
    assert run(["key", "rotate", made["key_id"]]) == 1
    assert "revoked" in capsys.readouterr().err
    assert answer("audit")[0]["outcome"] == "failed"


def test_the_table_has_the_key_alone_on_standard_output(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["key", "create", "ops", "--role", "admin", "--site", "*"]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.split()) == 1
    assert captured.out.startswith("fl_")
    assert "every device of every site" in captured.err
    for arguments in (["list"], ["audit"], ["show", captured.out.split("_")[1]]):
        assert run(["key", *arguments]) == 0
        assert captured.out.strip() not in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "x", "--role", "device", "--site", "*"],
        ["create", "x", "--role", "root", "--site", "local"],
        ["create", "x", "--role", "admin"],
        ["create", "x", "--role", "admin", "--site", "A B"],
        ["create", "x", "--role", "device", "--site", "local", "--mac", "zz"],
        ["create", "x", "--role", "admin", "--site", "*", "--expires", "soon"],
        ["create", "", "--role", "admin", "--site", "*"],
        ["create", "a\nb", "--role", "admin", "--site", "*"],
    ],
)
def test_wrong_wishes_are_usage_errors_and_make_nothing(answer: Answer, arguments: list[str]) -> None:
    assert run(["key", *arguments]) == 2
    assert answer("list") == []


def test_revoking_asks_to_be_sure(answer: Answer) -> None:
    made = answer("create", "x", "--role", "viewer", "--site", "local")
    assert run(["key", "revoke", made["key_id"]]) == 2
    assert kept().all()[0].revoked_ms is None


@pytest.mark.parametrize("verb", ["show", "rotate", "revoke"])
def test_an_unknown_key_is_not_found(answer: Answer, verb: str) -> None:
    assert run(["key", verb, "0" * 16, *(["--yes"] if verb == "revoke" else [])]) == 3


@pytest.mark.feature("H3")
def test_doctor_says_who_is_let_in(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def keys_check() -> tuple[bool, str]:
        assert run(["doctor", "-o", "json"]) == 1  # nothing else runs here
        out = capsys.readouterr().out
        (check,) = [check for check in json.loads(out)["checks"] if check["name"] == "keys"]
        assert "fl_" not in out
        return check["is_fine"], check["found"]

    answer("list")
    assert keys_check() == (True, "none: every user of this machine may do everything")
    monkeypatch.setenv("FAIRLANE_WEB_BIND", "0.0.0.0:8000")
    assert keys_check()[0] is False
    key = answer("create", "x", "--role", "admin", "--site", "*")
    monkeypatch.setenv("FAIRLANE_API_KEY", key["key"])
    assert keys_check() == (True, "1 valid of 1")
    answer("revoke", key["key_id"], "--yes")
    is_fine, found = keys_check()
    assert (is_fine, "no valid key" in found) == (False, True)
