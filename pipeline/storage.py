"""Stored images: a folder on one machine, an S3 bucket on many; the same calls and errors for both."""

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, S3Store

from pipeline.errors import ConfigurationError, ObjectMissing, StorageUnavailable

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

#: Stops a hung server from holding a task: a refused port is known after 0.3 s, a silent one after 6.3 s.
_CLIENT_OPTIONS: "ClientConfig" = {"timeout": "5s", "connect_timeout": "2s"}
_RETRIES: "RetryConfig" = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}

#: Objects listed, or deleted, in one request; a bucket takes no more.
_PAGE = 1_000

#: What may follow `?` in an s3:// URL; everything else, the secrets above all, comes as the usual AWS_* variables.
_S3_OPTIONS = ("endpoint", "region")

#: The process that first used a store; 0 before.
_first_pid = 0

_ID = re.compile(r"[0-9A-Za-z_-]{1,128}", re.ASCII)


def image_key(task_id: str, created_ms: int) -> str:
    """Where the image of a task is stored: `images/yyyy/mm/dd/<id>`, by the day of its acceptance in UTC."""
    return _key("images", task_id, created_ms)


def audit_key(task_id: str, created_ms: int) -> str:
    """Where the image of a task with hits is kept: `audit/yyyy/mm/dd/<id>`."""
    return _key("audit", task_id, created_ms)


def open_store(url: str) -> "ObjectStore":
    """Return the store at `url`; nothing is opened yet.

    Args:
        url: a folder, or `s3://bucket/prefix`, optionally with `?endpoint=https://…&region=…`.
    Raises: ConfigurationError.
    """
    if not url.startswith("s3://"):
        if "://" in url:
            raise ConfigurationError("FAIRLANE_STORAGE_URL: use a folder or s3://bucket/prefix")
        return ObjectStore(_Folder(Path(url).absolute()))
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not parts.netloc or not set(options) <= set(_S3_OPTIONS):
        raise ConfigurationError("FAIRLANE_STORAGE_URL: use s3://bucket/prefix?endpoint=https://...&region=...")
    return ObjectStore(_Bucket(parts.netloc, parts.path.strip("/"), options))


class StoredObject(NamedTuple):
    """A key, and when something was last stored under it, epoch ms by the clock of the store."""

    key: str
    stored_ms: int

    @property
    def task_id(self) -> str:
        """The task that the key was made from."""
        return self.key.rpartition("/")[2]


class ObjectStore:
    """Bytes under keys; whoever reads a key gets all of what was put there last, never a part.

    It opens on first use. It may be made before a fork, and used after it, but not on both sides.
    Every method raises `StorageUnavailable` when the store does not answer.
    """

    def __init__(self, place: "_Folder | _Bucket") -> None:
        self._place = place
        self._opened: Any = None

    def put(self, key: str, data: bytes) -> None:
        """Store `data`, in place of what was there."""
        try:
            with self._reaching(key) as store:
                obstore.put(store, key, data)
        except ObjectMissing as exc:
            raise StorageUnavailable(f"{self._place} takes no objects") from exc

    def get(self, key: str) -> bytes:
        """Return what is stored. Raises: ObjectMissing."""
        with self._reaching(key) as store:
            return bytes(obstore.get(store, key).bytes())

    def delete(self, key: str) -> None:
        """Delete what is stored, if anything is."""
        with suppress(ObjectMissing), self._reaching(key) as store:
            obstore.delete(store, key)

    def delete_all(self, keys: Sequence[str]) -> None:
        """Delete what is stored under these keys, if anything is."""
        for start in range(0, len(keys), _PAGE):
            with suppress(ObjectMissing), self._reaching(keys[start]) as store:
                obstore.delete(store, list(keys[start : start + _PAGE]))

    def pages(self, prefix: str) -> Iterator[list["StoredObject"]]:
        """Yield all that is stored below a prefix, in pages of a thousand, in no order.

        What is stored or deleted meanwhile may be among it or not.
        """
        with self._reaching(prefix) as store:
            listing = iter(obstore.list(store, prefix, chunk_size=_PAGE))
        while True:
            with self._reaching(prefix):
                page = next(listing, None)
            if page is None:
                return
            yield [StoredObject(one["path"], round(one["last_modified"].timestamp() * 1000)) for one in page]

    def copy(self, source: str, target: str) -> None:
        """Store under `target` what `source` holds, in place of what was there. Raises: ObjectMissing."""
        with self._reaching(source) as store:
            obstore.copy(store, source, target)

    def exists(self, key: str) -> bool:
        """Say whether something is stored under `key`."""
        try:
            with self._reaching(key) as store:
                obstore.head(store, key)
        except ObjectMissing:
            return False
        return True

    def check(self) -> None:
        """Return when an object can be stored and deleted now."""
        key = f"check/{secrets.token_hex(8)}"
        self.put(key, b"fairlane")
        self.delete(key)

    @contextmanager
    def _reaching(self, key: str) -> Iterator[Any]:
        _refuse_after_fork()
        try:
            if self._opened is None:
                self._opened = self._place.open()
            yield self._opened
        except FileNotFoundError as exc:
            if self._place.is_gone(exc):
                raise StorageUnavailable(f"{self._place} is not there") from exc
            raise ObjectMissing(f"nothing is stored as {key}") from exc
        except (BaseError, OSError) as exc:
            raise StorageUnavailable(f"{self._place}: {_first_line(exc)}") from exc


class _Folder:
    """A folder, made for this user alone when it is first used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def open(self) -> LocalStore:
        # The mode of mkdir holds for the last folder only: parents it makes would be open to all.
        for folder in (*reversed(self._path.parents), self._path):
            folder.mkdir(mode=0o700, exist_ok=True)
        return LocalStore(self._path)

    def is_gone(self, _: Exception) -> bool:
        """A missing file in a missing folder says nothing about the file: a disk may not be mounted."""
        return not self._path.is_dir()


class _Bucket:
    """A part of an S3 bucket."""

    def __init__(self, bucket: str, prefix: str, options: dict[str, str]) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._options = options

    def __str__(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}"

    def open(self) -> S3Store:
        client_options = _CLIENT_OPTIONS.copy()
        if self._options.get("endpoint", "").startswith("http://"):
            client_options["allow_http"] = True
        config: S3Config = {}
        for name, value in self._options.items():
            config[name] = value  # type: ignore[literal-required]
        return S3Store(
            self._bucket,
            prefix=self._prefix or None,
            config=config,
            client_options=client_options,
            retry_config=_RETRIES,
        )

    def is_gone(self, exc: Exception) -> bool:
        return "NoSuchBucket" in str(exc)


def _refuse_after_fork() -> None:
    """Refuse what would hang for ever: the client's threads do not come along through a fork.

    Source: seen with obstore 0.12.1, always for a bucket, in 2 of 5 children for a folder.
    """
    global _first_pid
    _first_pid = _first_pid or os.getpid()
    if _first_pid != os.getpid():
        raise StorageUnavailable("the object store was used before this process was forked off; use it after that only")


def _key(prefix: str, task_id: str, created_ms: int) -> str:
    if not _ID.fullmatch(task_id):
        raise ValueError("an object key is made from a task id only")
    day = datetime.fromtimestamp(created_ms / 1000, UTC)
    return f"{prefix}/{day:%Y/%m/%d}/{task_id}"


def _first_line(exc: Exception) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0]
