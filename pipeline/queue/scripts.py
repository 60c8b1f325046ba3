"""The Lua scripts: loaded and checked at start, called by name, replies split into a word and its values.

A missing or malformed script stops the process, not a task.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import redis
from redis.commands.core import Script

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


class Scripts:
    """All scripts of the folder, ready to be called.

    Raises: ConfigurationError, when a script is malformed.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._headers: dict[str, Header] = {}
        self._scripts: dict[str, Script] = {}
        for path in sorted(_FOLDER.glob("*.lua")):
            header = read_header(path)
            self._headers[header.name] = header
            self._scripts[header.name] = client.register_script(expand(path))

    def call(self, name: str, root: str, *args: str | int | bytes) -> Reply:
        """Run one script.

        Args:
            root: the epoch key.
        Raises: QueueUnavailable, whatever the server or the network did.
        """
        header = self._headers[name]
        if len(args) != len(header.args):
            raise TypeError(f"{name}.lua takes {len(header.args)} arguments, not {len(args)}")
        with reaching(name):
            answer = self._scripts[name](keys=[root], args=args)
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
