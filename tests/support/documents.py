"""The documents for users: their links and headings, and the shell commands in them, with how tests are to run those.

A block of `sh` is run in the order of its document, in one shell, unless a comment before it says otherwise:
`run: terminal A` starts it in the background until the next block of that terminal, `run: no, REASON` leaves it out.
Comments `before: COMMAND` and `terminal A: COMMAND` do something that readers need not see.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: What users read, in the order in which a newcomer would.
GUIDES = (ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md")))

_PART = re.compile(
    r"^<!-- (?P<key>run|before|terminal \w+): (?P<value>.+?) -->$"
    r"|^```(?P<kind>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)|\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")


class Block(NamedTuple):
    """Commands of a document.

    Args:
        terminal: in which they run in the background; empty: here.
        reason: why no test runs them; empty: one does.
        line: where they begin.
    """

    commands: str
    terminal: str
    reason: str
    line: int


def blocks_of(document: Path) -> list[Block]:
    """The shell commands of a document, those that readers do not see among them."""
    text = document.read_text("utf-8")
    found, said = [], ""
    for part in _PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        key, value = part["key"], part["value"]
        if key == "run":
            said = value
        elif key:
            terminal = key.removeprefix("terminal ") if key != "before" else ""
            found.append(Block(value + "\n", terminal, "", line))
        elif part["kind"] == "sh":
            found.append(_block(part["body"], said, line))
            said = ""
        else:
            assert not said, f"{document}:{line}: `run:` belongs to a block of sh"
    return found


def _block(commands: str, said: str, line: int) -> Block:
    how, _, reason = said.partition(", ")
    assert how in ("", "no") or how.startswith("terminal "), f"line {line}: {said}"
    assert bool(reason) is (how == "no"), f"line {line}: say why it is not run"
    return Block(commands, how.removeprefix("terminal ") if how != "no" else "", reason, line)


def links_of(document: Path) -> Iterator[str]:
    """What a document points to inside the repository: paths relative to it, with their anchors."""
    for groups in _LINK.findall(_CODE.sub("", document.read_text("utf-8"))):
        target = next(group for group in groups if group)
        if "://" not in target and not target.startswith("mailto:"):
            yield target


def anchors_of(document: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a document."""
    text = _CODE.sub("", document.read_text("utf-8"))
    return {anchor_of(heading) for heading in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)}


def anchor_of(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return "".join(char for char in plain if char.isalnum() or char in " -_").replace(" ", "-")


def inline_code_of(document: Path) -> Iterator[str]:
    """What stands between single backticks."""
    for code in _INLINE.findall(_CODE.sub("", document.read_text("utf-8"))):
        yield " ".join(code.split())


def command_lines(commands: str) -> Iterator[str]:
    """The command lines of a block, continued ones joined, without comments and here-documents."""
    joined = re.sub(r"\\\n\s*", "", commands)
    joined = re.sub(r"<<-?'?(\w+)'?(.*?)\n.*?^\1$", r"\2", joined, flags=re.MULTILINE | re.DOTALL)
    for line in joined.splitlines():
        command = re.sub(r"(^|\s)#.*", "", line).strip()
        if command:
            yield command
