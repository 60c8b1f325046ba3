"""Read the Procfile: one process a line, `name: command`, as every platform that knows Procfiles reads it."""

import re
import shlex
import sys
import sysconfig
from pathlib import Path

from pipeline.errors import ConfigurationError

_LINE = re.compile(r"([A-Za-z0-9_-]+):\s*(\S.*)")

_PACKAGE = Path(__file__).resolve().parent.parent


def find_procfile() -> Path:
    """Return the Procfile that belongs to this code: inside the installed package, or in the root of a checkout.

    Raises: ConfigurationError.
    """
    for path in (_PACKAGE / "Procfile", _PACKAGE.parent / "Procfile"):
        if path.is_file():
            return path
    raise ConfigurationError(f"no Procfile in {_PACKAGE} or {_PACKAGE.parent}: the installation is incomplete")


def read_procfile(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the command of each process, in the order of the file, split into words as a shell would.

    Raises: ConfigurationError, naming the line.
    """
    commands: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None or match[1] in commands:
            raise ConfigurationError(f"{path}:{number}: expected `name: command`, each name once")
        commands[match[1]] = _words(match[2], where=f"{path}:{number}")
    if not commands:
        raise ConfigurationError(f"{path}: names no process")
    return commands


def program_folders() -> list[str]:
    """The folders in which pip put our commands, to be searched before those of PATH."""
    # Not resolved: the python of a virtual environment is a link, and its scripts lie beside the link.
    return list(dict.fromkeys([str(Path(sys.executable).parent), sysconfig.get_path("scripts")]))


def _words(command: str, *, where: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError as exc:
        raise ConfigurationError(f"{where}: {exc}") from exc
    # Some systems have no `python`, only `python3`; ours is the one that runs now.
    return (sys.executable, *words[1:]) if words[0] == "python" else tuple(words)
