"""Compiled lists: objects for all hosts, files for all processes of one; each is mapped, and checked by its hash."""

import logging
import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

from models.word_shelf import WordShelf
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.errors import (
    InvalidInput,
    ListDamaged,
    ListNotFound,
    ListOutdated,
    ListUnavailable,
    ObjectMissing,
    StorageUnavailable,
)
from pipeline.settings import Settings
from pipeline.storage import ObjectStore

_log = logging.getLogger(__name__)

#: Files of one host that are kept; those that no process has opened for longest go first.
_FILES_MAX = 1_000


def object_key(sha256: str) -> str:
    """Where the compiled form of a content is stored."""
    return f"words/{sha256}"


def open_compiled(shelf: WordShelf, store: ObjectStore, settings: Settings) -> "CompiledLists":
    """Return the compiled forms, their files in the data folder of this host; nothing is opened yet."""
    return CompiledLists(shelf, store, settings.data_dir / "words")


class CompiledLists:
    """The compiled forms of contents; safe to share between threads.

    Args:
        folder: for the files of this host; made when it is first needed.
    """

    def __init__(self, shelf: WordShelf, store: ObjectStore, folder: Path) -> None:
        self._shelf, self._store, self._folder = shelf, store, folder
        # One map for all that use a list, for as long as anybody does.
        self._open: WeakValueDictionary[str, Lexicon] = WeakValueDictionary()
        self._lock = threading.Lock()

    def put(self, sha256: str, lexicon: Lexicon) -> None:
        """Store the compiled form of a content in place of what was there. Raises: StorageUnavailable."""
        self._store.put(object_key(sha256), lexicon.to_bytes())

    def forget(self, sha256: str) -> None:
        """Delete a compiled form that nobody needs any more. Raises: StorageUnavailable."""
        self._store.delete(object_key(sha256))

    def lexicon(self, sha256: str) -> Lexicon:
        """Return the compiled form of a content, mapped from a file of this host.

        Raises: ListUnavailable saying why; StorageUnavailable, DatabaseUnavailable.
        """
        with self._lock:
            known = self._open.get(sha256)
        if known is None:
            # Two threads may load one list at once and then share one; nobody waits for the loading of another list.
            loaded = self._load(sha256)
            with self._lock:
                known = self._open.setdefault(sha256, loaded)
        return known

    def _load(self, sha256: str) -> Lexicon:
        path = self._folder / f"{sha256}.words"
        try:
            return self._of_host(path) or self._fetched(sha256, path)
        except (ListDamaged, ListNotFound, InvalidInput) as exc:
            raise ListUnavailable(f"{object_key(sha256)} {exc}; publish it again") from exc
        except OSError as exc:
            raise ListUnavailable(f"{path} cannot be used: {exc.strerror}") from exc

    def _of_host(self, path: Path) -> Lexicon | None:
        try:
            return _opened(path)
        except FileNotFoundError:
            return None
        except (ListDamaged, ListOutdated) as exc:  # only our own copy: the store has another
            _log.warning("a compiled list is fetched anew: %s %s", path, exc)
            return None

    def _fetched(self, sha256: str, path: Path) -> Lexicon:
        try:
            data = self._store.get(object_key(sha256))
            Lexicon.of_bytes(data)
        except (ObjectMissing, ListOutdated) as exc:
            _log.info("a list is compiled here", extra={"sha256": sha256, "reason": str(exc)})
            data = Lexicon(rules=rules_of_json(self._shelf.content(sha256))).to_bytes()
            with suppress(StorageUnavailable):
                self._store.put(object_key(sha256), data)
        _write_whole(path, data)
        _keep_newest(self._folder)
        return _opened(path)


def _opened(path: Path) -> Lexicon:
    os.utime(path)  # it is used: `_keep_newest` deletes others first
    return Lexicon.open(path)


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    part.replace(path)


def _keep_newest(folder: Path) -> None:
    def used_at(path: Path) -> float:
        with suppress(FileNotFoundError):
            return path.stat().st_mtime
        return 0.0

    files = sorted(folder.iterdir(), key=used_at, reverse=True)
    for path in files[_FILES_MAX:]:
        path.unlink(missing_ok=True)
