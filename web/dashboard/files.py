"""The files of the dashboard, as they lie in this package: read once, named by the router, never by a path on disk."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"

#: Where the page names every module, so that a browser asks for all at once and not for one after the other.
_MODULES = b"<!-- modules -->"
_MODULE = '<link rel="modulepreload" href="static/{name}">'

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file.

    Args:
        etag: changes whenever the content does.
    """

    media_type: str
    data: bytes
    etag: str


def read_files() -> dict[str, StaticFile]:
    """Every file by its path below the folder, with slashes: whoever asks can name these and nothing else."""
    paths = sorted(path for path in _FOLDER.rglob("*") if path.is_file())
    names = [path.relative_to(_FOLDER).as_posix() for path in paths]
    modules = "".join(_MODULE.format(name=name) for name in names if name.startswith("js/")).encode()
    return {name: _read(path, modules) for name, path in zip(names, paths, strict=True)}


def _read(path: Path, modules: bytes) -> StaticFile:
    data = path.read_bytes()
    if path.suffix == ".html":
        data = data.replace(_MODULES, modules)
    return StaticFile(_MEDIA_TYPES[path.suffix], data, hashlib.sha256(data).hexdigest()[:32])
