"""The Lua scripts: loaded and checked at start, called by name, replies split into a word and its values.

A missing or malformed script stops the process, not a task.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

import redis
from redis.exceptions import NoScriptError

from pipeline.errors import ConfigurationError
from pipeline.queue.connection import reaching

_FOLDER = Path(__file__).parent / "lua"
_HEADER = re.compile(r"--\[\[\n(?P<name>\w+) - (?P<what>.+?)\n\]\]\n", re.DOTALL)
_SECTION = re.compile(r"^(KEYS|ARGV|BUILDS|RETURNS|COST)\b(.*)$")
_INCLUDE = re.compile(r"^--@include (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Header:
    """What a script says about itself; the rows are (index, name) and the reply words in their order."""

    name: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A script's answer: a word from its RETURNS and the values behind it."""

    word: str
    values: list[bytes]

    def text(self, index: int) -> str:
        return self.values[index].decode()

    def number(self, index: int) -> int:
        return int(self.values[index])


class _Script(NamedTuple):
    header: Header
    text: bytes
    sha: str


class Scripts:
    """All scripts of the folder, ready to be called.

    Raises: ConfigurationError, when a script is malformed.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = {script.header.name: script for script in _loaded()}

    def call(self, name: str, root: str, *args: str | int | bytes) -> Reply:
        """Run one script.

        Args:
            root: the epoch key.
        Raises: QueueUnavailable, whatever the server or the network did.
        """
        script = self._checked(name, args)
        with reaching(name):
            try:
                answer = self._ask("EVALSHA", script.sha, 1, root, *args)
            except NoScriptError:
                # Not SCRIPT LOAD, which a Cluster sends to all its nodes, and fails when one of them is down.
                answer = self._ask("EVAL", script.text, 1, root, *args)
        return _reply(answer)

    def call_many(self, name: str, root: str, rows: Sequence[Sequence[str | int | bytes]]) -> list[Reply]:
        """Run one script once for each row of arguments, in their order, in two round trips.

        The first row goes alone, so that the server knows the script when the others come.

        Raises: QueueUnavailable, when one of the runs failed; the others may have run.
        """
        if not rows:
            return []
        first, *rest = rows
        script = self._checked(name, first)
        replies = [self.call(name, root, *first)]
        with reaching(name), self._client.pipeline(transaction=False) as pipe:
            for row in rest:
                # Not `evalsha`, which a Cluster's pipeline refuses, though it can do it.
                pipe.execute_command("EVALSHA", script.sha, 1, root, *row)  # type: ignore[no-untyped-call]
            return replies + [_reply(answer) for answer in pipe.execute()]

    def _ask(self, *command: str | int | bytes) -> Any:
        return self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    def _checked(self, name: str, args: Sequence[str | int | bytes]) -> _Script:
        script = self._scripts[name]
        if len(args) != len(script.header.args):
            raise TypeError(f"{name}.lua takes {len(script.header.args)} arguments, not {len(args)}")
        return script


@cache
def _loaded() -> tuple[_Script, ...]:
    scripts = ((read_header(path), expand(path).encode()) for path in script_paths())
    # The digest is the name by which the server knows a script: nothing secret.
    return tuple(_Script(header, text, sha1(text, usedforsecurity=False).hexdigest()) for header, text in scripts)


def _reply(answer: Any) -> Reply:
    word, *values = answer
    return Reply(word.decode(), [value if isinstance(value, bytes) else str(value).encode() for value in values])


def read_header(path: Path) -> Header:
    """Return what the script at `path` declares.

    Raises: ConfigurationError, when the header is missing, misnamed or its rows are not numbered from 1.
    """
    found = _HEADER.match(path.read_text("utf-8"))
    if not found or found["name"] != path.stem:
        raise ConfigurationError(f"{path.name}: must open with a header that names the script")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in found["what"].splitlines():
        if section := _SECTION.match(line):
            current = sections.setdefault(section[1], [])
        elif line.startswith("  "):
            current.append(line.strip())
    for wanted in ("KEYS", "ARGV", "RETURNS", "COST"):
        if wanted not in sections:
            raise ConfigurationError(f"{path.name}: the header has no {wanted}")
    return Header(
        path.stem,
        _numbered(path, sections["KEYS"]),
        _numbered(path, sections["ARGV"]),
        tuple(row.split()[0] for row in sections["RETURNS"]),
    )


def expand(path: Path) -> str:
    """Return the script as it is sent: its includes, one level deep, in place."""
    return _INCLUDE.sub(lambda found: (_FOLDER / "lib" / f"{found[1]}.lua").read_text("utf-8"), path.read_text("utf-8"))


def script_paths() -> list[Path]:
    """The scripts, in the order of their names."""
    return sorted(_FOLDER.glob("*.lua"))


def _numbered(path: Path, rows: list[str]) -> tuple[str, ...]:
    names = []
    for expected, row in enumerate(rows, start=1):
        index, name, *_ = row.split()
        if index != str(expected):
            raise ConfigurationError(f"{path.name}: row {row!r} should be number {expected}")
        names.append(name)
    return tuple(names)
