"""`fairlane words check|try`."""

import json
from pathlib import Path

import pytest

from pipeline.cli import run

RULES = {
    "deny": ["赌场", {"word": "发票", "category": "fraud", "level": 2, "action": "review"}],
    "allow": ["普通发票"],
    "regex": [{"id": "gold", "pattern": "gold+"}],
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(RULES), "utf-8")
    return path


def test_check_counts_what_a_list_holds(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["words", "check", str(rules), "-o", "json"]) == 0

    counts = json.loads(capsys.readouterr().out)
    assert (counts["words"], counts["allowed"], counts["expressions"], counts["encoding"]) == (2, 1, 1, "utf-8")
    assert counts["findings"] == []
    assert run(["words", "check", str(rules)]) == 0


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("bad.json", '{"deny": [""]}', "/deny/0"),
        ("bad.json", '{"deny": [{"word": "x", "level": 9}]}', "/deny/0/level"),
        ("bad.json", '{"regex": [{"id": "x", "pattern": "(a"}]}', "/regex/0/pattern"),
        ("bad.json", '{"combos": [{"id": "x", "all": ["a"], "within": 3}]}', "/combos/0/all"),
        ("bad.json", "{", "Invalid JSON"),
        ("bad.txt", "good\n\u200b\n", "line 2"),
        ("bad.csv", "word,level\nx,9\n", "line 2"),
    ],
)
def test_check_says_what_is_wrong_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, place: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")

    assert run(["words", "check", str(tmp_path / name)]) == 1

    assert place in "".join(capsys.readouterr())


def test_try_shows_hits_contacts_and_the_suggestion(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["words", "try", "发-票 赌场 mail a@b.com", "--file", str(rules), "--word", "mail"]) == 0

    shown = capsys.readouterr().out
    assert "fraud" in shown
    assert "email" in shown
    assert "suggestion: block" in shown


def test_try_answers_programs_in_json(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["words", "try", "普通发票，发票", "--file", str(rules), "-o", "json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert [(hit["word"], hit["start"]) for hit in answer["hits"]] == [("发票", 5)]
    assert answer["suggestion"] == "review"
