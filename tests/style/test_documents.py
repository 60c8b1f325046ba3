"""What documents say is there: links, settings, commands, make targets; and both READMEs say the same."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pipeline.cli import fairlane
from pipeline.settings import PREFIX, Settings
from tests.support.documents import GUIDES, ROOT, anchors_of, blocks_of, command_lines, inline_code_of, links_of

each_guide = pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))

#: Settings that tests and this repository's own tools read besides those of the service.
_OTHER_NAMES = {"FAIRLANE_COMPLETE"}


@pytest.mark.parametrize(
    "guide", [*GUIDES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name
)
def test_every_link_leads_somewhere(guide: Path) -> None:
    for link in links_of(guide):
        path, _, anchor = link.partition("#")
        target = (guide.parent / path).resolve() if path else guide
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors_of(target), f"{link}: no such heading"


@each_guide
def test_every_setting_named_in_a_document_exists(guide: Path) -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | _OTHER_NAMES
    named = re.findall(rf"\b_?({PREFIX}[A-Z_*]*[A-Z*])", guide.read_text("utf-8"))
    patterns = {name for name in named if "*" in name}

    assert sorted(set(named) - patterns - known) == []
    for pattern in patterns:
        assert any(re.fullmatch(pattern.replace("*", "[A-Z_]+"), name) for name in known), pattern


@each_guide
def test_every_command_in_a_document_can_be_typed(guide: Path) -> None:
    lines = [line for block in blocks_of(guide) for line in command_lines(block.commands)]
    spoken = [code for code in inline_code_of(guide) if not set("|…{<") & set(code)]
    for words in _invocations(lines + spoken, "fairlane"):
        fault = _fault_of(words)
        assert fault is None, f"fairlane {' '.join(words)}: {fault}"


@each_guide
def test_every_make_target_in_a_document_exists(guide: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = [line for block in blocks_of(guide) for line in command_lines(block.commands)]
    spoken = [code for code in inline_code_of(guide) if code.startswith("make ")]
    for words in _invocations(lines + spoken, "make"):
        assert words[0] in targets, f"make {words[0]}"


def test_both_readmes_have_the_same_commands_and_the_same_links() -> None:
    english, chinese = GUIDES[:2]

    def commands(guide: Path) -> list[list[str]]:
        return [[" ".join(line.split()) for line in command_lines(block.commands)] for block in blocks_of(guide)]

    assert commands(english) == commands(chinese)
    others = {english.name, chinese.name}
    assert set(links_of(english)) - others == set(links_of(chinese)) - others


def test_the_index_names_every_page_or_its_folder() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links_of(index)}
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != index]

    assert [page for page in pages if not {page, page.parent} & listed] == []


def _invocations(lines: list[str], program: str) -> Iterator[list[str]]:
    """The words after each call of a program, up to what ends it."""
    for line in lines:
        for part in re.split(r"[;&|()]|\bthen\b|\bdo\b", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:  # a quote that the split has torn apart
                words = part.split()
            while words and (re.fullmatch(r"\w+=.*", words[0]) or words[0] in ("sudo", "exec", "time", "env")):
                words = words[1:]
            words = [word for word in words if not re.match(r"\d?[<>]", word)]
            if len(words) > 1 and words[0].rpartition("/")[2] == program:
                yield words[1:]


def _fault_of(words: list[str]) -> str | None:
    """What click would not take; values and arguments are not looked at."""
    command: click.Command = fairlane
    options = {name for option in fairlane.params for name in (*option.opts, *option.secondary_opts)}
    for word in words:
        if word.startswith("-") and len(word) > 1:
            if word.partition("=")[0] not in options | {"-h", "--help"}:
                return f"no option {word}"
        elif isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            if found is None:
                return f"no command {word}"
            command = found
            options |= {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return None
