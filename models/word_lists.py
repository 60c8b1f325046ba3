"""Lists of words as the database keeps them: who owns one, its versions, and which of them is in effect."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    CharField,
    CompositeKey,
    FixedCharField,
    ForeignKeyField,
    IntegerField,
    JSONField,
)

from models.base import BaseModel

Scope = Literal["global", "site", "device"]


class WordList(BaseModel):
    """A name under which versions stand; `published` is the one in effect, `latest` the newest.

    A global list has no `site`, one of a site no `mac`.
    """

    id = BigAutoField()
    site = CharField(64)
    mac = CharField(12)
    name = CharField(64)
    latest = IntegerField(default=0)
    published = IntegerField(null=True)
    created_ms = BigIntegerField()
    changed_ms = BigIntegerField()


WordList.add_index(WordList.site, WordList.mac, WordList.name, unique=True, name="word_list_owner_name")


class WordContent(BaseModel):
    """The rules of a version, JSON, compressed; once for all versions that say the same."""

    sha256 = FixedCharField(64, primary_key=True)
    body = BlobField()


class WordVersion(BaseModel):
    """A version of a list; nothing of it ever changes but `published_ms`, when it was first in effect."""

    list_id: int
    content_sha256: str

    word_list = ForeignKeyField(
        WordList, column_name="list_id", object_id_name="list_id", on_delete="CASCADE", index=False
    )
    version = IntegerField()
    sha256 = ForeignKeyField(WordContent, column_name="sha256", object_id_name="content_sha256")
    source = CharField(255)
    counts = JSONField()
    findings = JSONField()
    created_ms = BigIntegerField()
    published_ms = BigIntegerField(null=True)

    class Meta:
        primary_key = CompositeKey("word_list", "version")


class WordEpoch(BaseModel):
    """One row, whose number grows whenever what is in effect changes."""

    id = IntegerField(primary_key=True)
    epoch = BigIntegerField()


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose texts a list is for: everybody's, those of a site, or those of one device of a site."""

    site: str = ""
    mac: str = ""

    @property
    def scope(self) -> Scope:
        return "device" if self.mac else "site" if self.site else "global"


EVERYBODY = Owner()


@dataclass(frozen=True, slots=True)
class ListRow:
    """A list; times in epoch ms.

    Args:
        latest: its newest version, 0 before the first.
        published: the version in effect; None when none is.
        changed_ms: when a version was brought or put into effect last.
    """

    id: int
    owner: Owner
    name: str
    latest: int
    published: int | None
    created_ms: int
    changed_ms: int


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a list.

    Args:
        sha256: of its content, 64 hexadecimal digits.
        source: where it came from, such as the name of a file.
        counts: how many words, expressions and so on it holds.
        findings: what the linter found, as `pipeline.lists.lint.Finding`.
        published_ms: when it was first in effect, None when never.
    """

    list_id: int
    version: int
    sha256: str
    source: str
    counts: dict[str, int]
    findings: list[dict[str, Any]]
    created_ms: int
    published_ms: int | None


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version to be kept.

    Args:
        body: its content, JSON; `sha256` is that of these bytes.
    """

    body: bytes
    sha256: str
    source: str
    counts: dict[str, int]
    findings: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A version in effect."""

    list_id: int
    owner: Owner
    name: str
    version: int
    sha256: str


def list_row(row: WordList) -> ListRow:
    return ListRow(
        row.id, Owner(row.site, row.mac), row.name, row.latest, row.published, row.created_ms, row.changed_ms
    )


def version_row(row: WordVersion) -> VersionRow:
    return VersionRow(
        list_id=row.list_id,
        version=row.version,
        sha256=row.content_sha256,
        source=row.source,
        counts=row.counts,
        findings=row.findings,
        created_ms=row.created_ms,
        published_ms=row.published_ms,
    )


def packed(body: bytes) -> bytes:
    """Return content as its row keeps it."""
    return zlib.compress(body, level=6)


def unpacked(kept: bytes | memoryview) -> bytes:
    """Return the content of a row. Raises: zlib.error when it is damaged."""
    return zlib.decompress(kept)
