"""Lists of words: shown, brought, published, rolled back, removed."""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

import falcon

from models.sites import LOCAL_SITE
from models.word_lists import ListRow, Owner
from pipeline.errors import Forbidden, InvalidMac, ListNotFound
from pipeline.intake import rules_of
from pipeline.lists.library import Library
from pipeline.lists.reading import Kind, read_list
from pipeline.mac import normalize_mac
from pipeline.settings import Settings
from web.access import Access
from web.bodies import Body, media_type_of, read_json
from web.caller import caller_of
from web.errors import invalid_parameter, unsupported_media_type
from web.operations import Operation, Parameter
from web.parameters import all_values, whole_number
from web.replies import reply
from web.schemas import validated
from web.word_lists import (
    FullListAnswer,
    ListAnswer,
    ListsAnswer,
    NewList,
    Publication,
    Rollback,
    RulesAnswer,
    VersionAnswer,
    full_list_answer,
    list_answer,
    listed_answer,
    version_answer,
)

PATH = "/api/words"
_PAGE = 100
_PAGE_MAX = 1_000
_BODY_MAX_BYTES = 10_000
#: Of a file; larger ones are for the command line, as they take the memory of a process that serves others.
_FILE_MAX_BYTES = 16_000_000
_ID = re.compile(r"[0-9]{1,15}", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,9}", re.ASCII)
_KINDS: dict[str, Kind] = {"text/plain": "txt", "text/csv": "csv", "application/json": "json"}
_FILE: Mapping[str, Any] = {"type": "string"}


class WordListsResource:
    """`/api/words`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.MANAGE,
            summary="Lists of words, oldest first",
            parameters=(
                Parameter("site", "only of this site and its devices"),
                Parameter("mac", "only of this device"),
                Parameter("after", "only lists with a larger id: where the next page begins", {"type": "integer"}),
                Parameter("limit", "lists of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
            ),
            answers={200: (ListsAnswer,)},
            refusals=(503,),
        ),
        "POST": Operation(
            access=Access.MANAGE,
            summary="Make a list without a version, unless there is one of this name",
            requests={"application/json": (NewList,)},
            answers={200: (ListAnswer,)},
            refusals=(411, 413, 415, 422, 503),
        ),
    }

    def __init__(self, library: Library, settings: Settings) -> None:
        self._library = library
        self._rules = rules_of(settings)

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        limit, site, mac = whole_number(req, "limit", default=_PAGE), _one(req, "site"), _one(req, "mac")
        after = _one(req, "after")
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        if after is not None and not _ID.fullmatch(after):
            raise invalid_parameter("after", "must be one id of a list")
        scope = caller_of(req).scope
        if scope.site is not None and site not in (None, scope.site):
            raise Forbidden("another site's lists were asked for")
        found = self._library.shelf.page(
            site=scope.site or site, mac=None if mac is None else _mac(mac), after=int(after or 0), limit=limit + 1
        )
        page = found[:limit]
        given = {name: value for name, value in (("site", site), ("mac", mac)) if value is not None}
        further = {**given, "limit": limit, "after": page[-1].id} if len(found) > limit else None
        words = self._library.shelf.words_in_effect([row.id for row in page])
        answers = [listed_answer(row, words.get(row.id)) for row in page]
        reply(resp, ListsAnswer(lists=answers, next=f"{PATH}?{urlencode(further)}" if further else None))

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        wish = validated(NewList, read_json(req, _BODY_MAX_BYTES), self._rules)
        mac = normalize_mac(wish.mac) if wish.mac else ""
        own_site = caller_of(req).scope.site
        owner = Owner(wish.site or (own_site or LOCAL_SITE if mac else ""), mac)
        if own_site is not None and owner.site != own_site:
            raise Forbidden("a list for others than the caller's site was asked for")
        reply(resp, list_answer(self._library.shelf.create(owner, wish.name)))


class WordListResource:
    """`/api/words/{list_id}`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.MANAGE,
            summary="One list with its versions",
            answers={200: (FullListAnswer,)},
            refusals=(404, 503),
        ),
        "PUT": Operation(
            access=Access.MANAGE,
            summary="Keep a file as the next version, a draft: one word a line, a table, or rules. Its encoding is the "
            "charset given, or found out",
            requests=dict.fromkeys(_KINDS, _FILE),
            parameters=(Parameter("source", "where it comes from, such as the name of a file"),),
            answers={200: (VersionAnswer,)},
            refusals=(404, 411, 413, 415, 422, 503),
        ),
        "DELETE": Operation(
            access=Access.MANAGE,
            summary="Remove a list with all its versions",
            answers={204: ()},
            refusals=(404, 503),
        ),
    }

    def __init__(self, library: Library) -> None:
        self._library = library

    def on_get(self, req: falcon.Request, resp: falcon.Response, list_id: str) -> None:
        row = _own_list(req, self._library, list_id)
        reply(resp, full_list_answer(row, self._library.shelf.versions(row.id)))

    def on_put(self, req: falcon.Request, resp: falcon.Response, list_id: str) -> None:
        row = _own_list(req, self._library, list_id)
        media_type, parameters = media_type_of(req)
        if media_type not in _KINDS:
            raise unsupported_media_type(*_KINDS)
        data = Body(req, _FILE_MAX_BYTES).read()
        read = read_list(data, _KINDS[media_type], parameters.get("charset"))
        reply(resp, version_answer(self._library.add(row.id, read, _one(req, "source") or "HTTP")))

    def on_delete(self, req: falcon.Request, resp: falcon.Response, list_id: str) -> None:
        self._library.remove(_own_list(req, self._library, list_id).id)
        resp.status = 204


class WordVersionResource:
    """`/api/words/{list_id}/versions/{version}`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.MANAGE,
            summary="What a version says, as rules",
            answers={200: (RulesAnswer,)},
            refusals=(404, 503),
        ),
    }

    def __init__(self, library: Library) -> None:
        self._library = library

    def on_get(self, req: falcon.Request, resp: falcon.Response, list_id: str, version: str) -> None:
        if not _VERSION.fullmatch(version):
            raise ListNotFound("no version has this number")
        found = self._library.shelf.version(_own_list(req, self._library, list_id).id, int(version))
        reply(resp, RulesAnswer(version=found.version, rules=json.loads(self._library.shelf.content(found.sha256))))


class PublishWordsResource:
    """`/api/words/{list_id}/publish`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.MANAGE,
            summary="Put a version into effect, in every process within seconds",
            requests={"application/json": (Publication,)},
            answers={200: (ListAnswer,)},
            refusals=(404, 411, 413, 415, 422, 503),
        )
    }

    def __init__(self, library: Library, settings: Settings) -> None:
        self._library = library
        self._rules = rules_of(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response, list_id: str) -> None:
        row = _own_list(req, self._library, list_id)
        wish = validated(Publication, read_json(req, _BODY_MAX_BYTES), self._rules)
        reply(resp, list_answer(self._library.publish(row.id, wish.version, force=wish.force)))


class RollbackWordsResource:
    """`/api/words/{list_id}/rollback`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.MANAGE,
            summary="Put a version that was in effect before into effect again",
            requests={"application/json": (Rollback,)},
            answers={200: (ListAnswer,)},
            refusals=(404, 411, 413, 415, 422, 503),
        )
    }

    def __init__(self, library: Library, settings: Settings) -> None:
        self._library = library
        self._rules = rules_of(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response, list_id: str) -> None:
        row = _own_list(req, self._library, list_id)
        wish = validated(Rollback, read_json(req, _BODY_MAX_BYTES), self._rules)
        reply(resp, list_answer(self._library.roll_back(row.id, wish.version)))


def _own_list(req: falcon.Request, library: Library, list_id: str) -> ListRow:
    """Return the list; that of another site, and a global one for the key of one site, is as if it were not there."""
    row = library.shelf.get(int(list_id)) if _ID.fullmatch(list_id) else None
    if row is None or caller_of(req).scope.site not in (None, row.owner.site):
        raise ListNotFound("no list of words has this id")
    return row


def _one(req: falcon.Request, name: str) -> str | None:
    values = all_values(req, name)
    if len(values) > 1:
        raise invalid_parameter(name, "must be given once")
    return values[0] if values else None


def _mac(value: str) -> str:
    try:
        return normalize_mac(value)
    except InvalidMac as exc:
        raise invalid_parameter("mac", exc.problems[0].detail) from exc
