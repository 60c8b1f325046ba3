"""The Lua scripts: loaded and checked at start, called by name, replies split into a word and its values.

A missing or malformed script stops the process, not a task. On the server each is a function of a library of its own,
whose name ends with a digest of its text: versions side by side on one server have each their own.
PERF: a function's definitions are made once, a script's at each call: 1.7 times the server's time (docs/why/scale.md).
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import redis
from redis.exceptions import NoPermissionError, NoScriptError, OutOfMemoryError, ResponseError

from pipeline.errors import ConfigurationError
from pipeline.queue.connection import load_library, reaching

log = logging.getLogger(__name__)

_FOLDER = Path(__file__).parent / "lua"
_HEADER = re.compile(r"--\[\[\n(?P<name>\w+) - (?P<what>.+?)\n\]\]\n", re.DOTALL)
_SECTION = re.compile(r"^(KEYS|ARGV|BUILDS|RETURNS|COST|FLAGS)\b(.*)$")
_INCLUDE = re.compile(r"^--@include (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Header:
    """What a script says about itself; the rows are (index, name) and the reply words in their order.

    Args:
        flags: `no-writes`, or `allow-oom`: it runs also on a server without memory, which refuses new work only.
    """

    name: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    words: tuple[str, ...]
    flags: tuple[str, ...] = ()


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
    """A script in both forms: a library with one function, and the text for servers that take no functions."""

    header: Header
    text: bytes
    sha: str
    library: bytes
    function: str


class Scripts:
    """All scripts of the folder, ready to be called.

    Raises: ConfigurationError, when a script is malformed.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._scripts = {script.header.name: script for script in _loaded()}
        self._has_functions = True

    def call(self, name: str, root: str, *args: str | int | bytes) -> Reply:
        """Run one script.

        Args:
            root: the epoch key.
        Raises: QueueUnavailable, whatever the server or the network did.
        """
        script = self._checked(name, args)
        with reaching(name):
            return _reply(self._run(script, root, args))

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
        how = ("FCALL", script.function) if self._has_functions else ("EVALSHA", script.sha)
        with reaching(name), self._client.pipeline(transaction=False) as pipe:
            for row in rest:
                # Not the client's own methods, which a Cluster's pipeline refuses, though it can do it.
                pipe.execute_command(*how, 1, root, *row)  # type: ignore[no-untyped-call]
            return replies + [_reply(answer) for answer in pipe.execute()]

    def _run(self, script: _Script, root: str, args: Sequence[str | int | bytes]) -> Any:
        if self._has_functions:
            try:
                return self._ask("FCALL", script.function, 1, root, *args)
            except ResponseError as exc:
                if not _is_unknown(exc):
                    raise
            self._has_functions = self._define(script, root)
        if self._has_functions:
            return self._ask("FCALL", script.function, 1, root, *args)
        try:
            return self._ask("EVALSHA", script.sha, 1, root, *args)
        except NoScriptError:
            # Not SCRIPT LOAD, which a Cluster sends to all its nodes, and fails when one of them is down.
            return self._ask("EVAL", script.text, 1, root, *args)

    def _define(self, script: _Script, root: str) -> bool:
        """Define the function where `root` lies; return False when that is not allowed, which costs time only."""
        try:
            load_library(self._client, script.library, root)
        except ResponseError as exc:
            if not (_is_not_ours(exc) or isinstance(exc, OutOfMemoryError)):
                raise
            log.warning("the server refuses functions, so every call defines them anew and takes longer: %s", exc)
            return False
        return True

    def _ask(self, *command: str | int | bytes) -> Any:
        return self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    def _checked(self, name: str, args: Sequence[str | int | bytes]) -> _Script:
        script = self._scripts[name]
        if len(args) != len(script.header.args):
            raise TypeError(f"{name}.lua takes {len(script.header.args)} arguments, not {len(args)}")
        return script


def _is_unknown(exc: ResponseError) -> bool:
    """The server does not have the function, or lets us call none: then it will not be told of it either."""
    return "Function not found" in str(exc) or _is_not_ours(exc)


def _is_not_ours(exc: ResponseError) -> bool:
    """The command is not for us: by the server's rules for users, or because it was taken away or is not there yet."""
    return isinstance(exc, NoPermissionError) or "unknown command" in str(exc)


@cache
def _loaded() -> tuple[_Script, ...]:
    return tuple(_made(path) for path in script_paths())


def _made(path: Path) -> _Script:
    header, definition = read_header(path), expand(path)
    # The digest is the name by which the server knows a script: nothing secret.
    digest = sha1(definition.encode(), usedforsecurity=False).hexdigest()
    function = f"fairlane_{header.name}_{digest[:16]}"
    flags = ", ".join(f"'{flag}'" for flag in header.flags)
    shebang = f"#!lua flags={','.join(header.flags)}" if header.flags else "#!lua"
    library = (
        f"#!lua name={function}\n{definition}"
        f"redis.register_function{{function_name = '{function}', callback = run, flags = {{{flags}}}}}\n"
    ).encode()
    text = f"{shebang}\n{definition}return run(KEYS, ARGV)\n".encode()
    return _Script(header, text, sha1(text, usedforsecurity=False).hexdigest(), library, function)


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
            current += section[2].strip().splitlines()
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
        tuple(" ".join(sections.get("FLAGS", [])).split()),
    )


def expand(path: Path) -> str:
    """Return the definition of `run(KEYS, ARGV)`, which is the script, with its includes, one level deep, in place.

    What is included before the first statement stands outside: the server need not define it at each call.
    """
    lines = path.read_text("utf-8").partition("\n]]\n")[2].splitlines(keepends=True)
    shared = list(takewhile(lambda line: _INCLUDE.match(line) or not line.strip(), lines))
    definitions, own = (_INCLUDE.sub(_fragment, "".join(part)) for part in (shared, lines[len(shared) :]))
    return f"{definitions}\nlocal function run(KEYS, ARGV)\nbuild_keys_of(KEYS[1])\n{own}end\n"


def _fragment(include: re.Match[str]) -> str:
    return (_FOLDER / "lib" / f"{include[1]}.lua").read_text("utf-8")


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
