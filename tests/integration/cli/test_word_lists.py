"""`fairlane words`: lists and their versions, on a real SQLite file."""

import json
from pathlib import Path
from typing import Any

import pytest

from models.base import connect
from models.migrate import migrate
from pipeline.cli import run
from pipeline.settings import load_settings

MAC = "aa:bb:cc:dd:ee:ff"


class Shell:
    """A terminal in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        migrate(connect(load_settings().effective_database_url))
        self.folder, self._capsys = folder, capsys

    def file(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def json(self, *arguments: str) -> Any:
        return json.loads(self.text(*arguments, "-o", "json"))

    def text(self, *arguments: str, code: int = 0) -> str:
        assert run(["words", *arguments]) == code
        out, err = self._capsys.readouterr()
        return out + err

    def found(self, text: str, *whose: str) -> list[str]:
        return [hit["word"] for hit in self.json("try", text, *whose)["hits"]]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLANE_DATA_DIR", str(tmp_path / "data"))
    return Shell(tmp_path, capsys)


@pytest.mark.feature("D6")
@pytest.mark.feature("H6")
def test_a_list_in_gbk_is_imported_published_rolled_back_and_removed(shell: Shell) -> None:
    first = shell.file("house.txt", "网上赌场\n代开发票\n".encode("gbk"))
    second = shell.file("second.csv", "word,level\n加我微信,2\n".encode("utf-16"))

    assert "read as gb18030" in shell.text("import", first)
    assert shell.found("网上赌场 加我微信") == []
    assert shell.json("publish", "house")["published"] == 1
    assert shell.found("网上赌场 加我微信") == ["网上赌场"]
    assert shell.json("import", second, "--name", "house", "--publish")["published"] == 2
    assert shell.found("网上赌场 加我微信") == ["加我微信"]
    assert "version 1 is in effect" in shell.text("rollback", "house")
    assert shell.found("网上赌场 加我微信") == ["网上赌场"]

    assert [(one["name"], one["published"], one["latest"]) for one in shell.json("list")] == [("house", 1, 2)]
    assert [one["source"] for one in shell.json("show", "house")] == ["second.csv", "house.txt"]
    assert "in effect" in shell.text("show", "house")
    assert "say --yes" in shell.text("remove", "house", code=2)
    shell.text("remove", "house", "--yes")
    assert shell.json("list") == []


@pytest.mark.feature("D1")
def test_a_list_of_a_device_is_for_that_device_only(shell: Shell) -> None:
    shell.text("import", shell.file("own.txt", "网上赌场".encode()), "--mac", MAC, "--publish")

    assert shell.found("网上赌场", "--mac", "AABBCCDDEEFF") == ["网上赌场"]
    assert shell.found("网上赌场") == []
    assert [one["scope"] for one in shell.json("list", "--mac", MAC)] == ["device"]
    assert "no list of words named own for everybody" in shell.text("show", "own", code=3)


@pytest.mark.feature("D6")
def test_what_the_linter_finds_keeps_a_list_from_being_published(shell: Shell) -> None:
    path = shell.file("short.txt", "网上赌场\nok\n".encode())

    assert "line 2" in shell.text("import", path)
    assert "two letters" in shell.text("publish", "short", code=1)
    assert shell.json("lint", "short")["findings"][0]["code"] == "short"
    assert shell.json("publish", "short", "--force")["published"] == 1

    wrong = shell.file("wrong.json", b'{"regex": [{"id": "x", "pattern": "(a"}]}')
    assert "RE2" in shell.text("import", wrong, code=1)
    assert "RE2" in shell.text("publish", "wrong", "--force", code=1)
    assert "error" in shell.text("lint", "wrong", code=1)


@pytest.mark.feature("D6")
def test_what_is_exported_can_be_imported(shell: Shell) -> None:
    shell.text("import", shell.file("house.csv", "word,list\n发票,deny\n普通发票,allow\n".encode("gbk")))

    exported = shell.file("again.json", shell.text("export", "house").encode())

    assert json.loads(Path(exported).read_text("utf-8")) == {"deny": ["发票"], "allow": ["普通发票"]}
    assert "version 1:" in shell.text("import", exported, "--name", "house")


@pytest.mark.feature("D6")
def test_a_starter_is_in_effect_once_published(shell: Shell) -> None:
    assert shell.found("专业代😀开发票") == []

    shell.text("import", "--starter", "fraud", "--publish")

    assert shell.found("专业代😀开发票") == ["代开发票"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["import"], 2),
        (["import", "--starter", "nonsense"], 2),
        (["publish", "missing"], 3),
        (["rollback", "missing"], 3),
        (["remove", "missing", "--yes"], 3),
        (["export", "missing"], 3),
        (["lint", "missing"], 3),
        (["list", "--mac", "x"], 2),
    ],
)
def test_what_is_not_there_or_makes_no_sense_has_its_exit_code(shell: Shell, arguments: list[str], code: int) -> None:
    shell.text(*arguments, code=code)


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("data", "options", "place"),
    [
        ("好\n词\n".encode("gbk") + b"\xff\xff", ["--encoding", "gbk"], "line 3"),
        (b"x", ["--encoding", "nonsense"], "encoding"),
        (b"x", ["--name", "a b"], "name"),
        (b"x", ["--site", "nobody"], "not a known site"),
    ],
)
def test_a_file_that_is_no_list_changes_nothing(shell: Shell, data: bytes, options: list[str], place: str) -> None:
    assert place in shell.text("import", shell.file("bad.txt", data), *options, code=1)
    assert shell.json("list") == []
