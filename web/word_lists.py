"""The bodies that go with lists of words, and how lists become answers."""

import dataclasses
from typing import Annotated, Any

from pydantic import Field

from models.word_lists import ListRow, VersionRow
from web.answers import Answer
from web.schemas import ClientId, Mac, Request

_VERSION_MAX = 2**31 - 1
VersionNumber = Annotated[int, Field(ge=1, le=_VERSION_MAX)]


class NewList(Request):
    """A list of everybody, of a site, or of a device of a site."""

    name: ClientId
    site: ClientId | None = Field(None, description="whose texts it is for; with `mac`, `local` if not given")
    mac: Mac | None = None


class Publication(Request):
    """Which version to put into effect."""

    version: VersionNumber | None = Field(None, description="the newest by default")
    force: bool = Field(default=False, description="in spite of warnings")


class Rollback(Request):
    """Which version to go back to."""

    version: VersionNumber | None = Field(None, description="by default the newest of those in effect before")


class FindingAnswer(Answer):
    """What the linter found; an error keeps a version from being published, a warning does without `force`."""

    severity: str = Field(description="error or warning")
    code: str
    place: str = Field(description="a line, or a JSON pointer")
    word: str
    detail: str


class VersionAnswer(Answer):
    """A version of a list; nothing of it ever changes but when it was first in effect."""

    version: int
    sha256: str = Field(description="of its content")
    source: str
    counts: dict[str, int]
    findings: list[FindingAnswer] = Field(description="of each kind the first 20")
    created_ms: int
    published_ms: int | None = Field(description="when it was first in effect; epoch ms")


class ListAnswer(Answer):
    """A list of words; times in epoch ms."""

    id: int
    scope: str = Field(description="global, site or device")
    site: str
    mac: str
    name: str
    latest: int = Field(description="its newest version; 0 before the first")
    published: int | None = Field(description="the version in effect")
    created_ms: int
    changed_ms: int


class FullListAnswer(ListAnswer):
    versions: list[VersionAnswer] = Field(description="newest first")


class ListedAnswer(ListAnswer):
    words: int | None = Field(description="in the version in effect; null when none is")


class ListsAnswer(Answer):
    lists: list[ListedAnswer]
    next: str | None = Field(description="where the next page is")


class RulesAnswer(Answer):
    """A version as it was brought, in the JSON of rules."""

    version: int
    rules: dict[str, Any]


def list_answer(row: ListRow) -> ListAnswer:
    return ListAnswer(**_list_fields(row))


def listed_answer(row: ListRow, words: int | None) -> ListedAnswer:
    return ListedAnswer(**_list_fields(row), words=words)


def full_list_answer(row: ListRow, versions: list[VersionRow]) -> FullListAnswer:
    return FullListAnswer(**_list_fields(row), versions=[version_answer(version) for version in versions])


def version_answer(version: VersionRow) -> VersionAnswer:
    return VersionAnswer.model_validate(dataclasses.asdict(version))


def _list_fields(row: ListRow) -> dict[str, Any]:
    owner = row.owner
    return {**dataclasses.asdict(row), "scope": owner.scope, "site": owner.site, "mac": owner.mac}
