"""The audit: who did what."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import falcon
from pydantic import Field

from models.audit import AuditTrail
from web.access import Access
from web.answers import Answer
from web.caller import caller_of
from web.errors import invalid_parameter
from web.filters import page_before
from web.operations import Operation, Parameter
from web.parameters import whole_number
from web.replies import reply

PATH = "/api/audit"
_PAGE = 50
_PAGE_MAX = 200


class AuditLineAnswer(Answer):
    """Somebody did something; `at_ms` is epoch ms."""

    id: int
    at_ms: int
    actor: str = Field(description="key:<id>, cli:<user>, or open while no key existed")
    site: str | None = Field(description="whose data; null: every site's")
    action: str
    target: str
    outcome: str = Field(description="the HTTP status, or done or failed; empty: never known")


class AuditAnswer(Answer):
    """One page, newest first."""

    lines: list[AuditLineAnswer]
    next: str | None = Field(description="where the next page is; null on the last")


class AuditResource:
    """`/api/audit`: an admin of a site sees what was done to it, one of every site all."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.MANAGE,
            summary="Who changed what, newest first",
            parameters=(
                Parameter("before", "only lines with a smaller id: where the next page begins", {"type": "integer"}),
                Parameter("limit", "lines of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
            ),
            answers={200: (AuditAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        limit = whole_number(req, "limit", default=_PAGE)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        # One more than asked for, to know whether there is a next page.
        found = self._trail.page(site=caller_of(req).scope.site, before=page_before(req, "a line"), limit=limit + 1)
        lines = [AuditLineAnswer(**dataclasses.asdict(line)) for line in found[:limit]]
        further = f"{PATH}?limit={limit}&before={lines[-1].id}" if len(found) > limit else None
        reply(resp, AuditAnswer(lines=lines, next=further))
