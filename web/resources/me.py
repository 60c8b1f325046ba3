"""Who is asking: what the service makes of the key that came along."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from pipeline import __version__
from web.access import Access
from web.caller import caller_of
from web.house_answers import MeAnswer
from web.operations import Operation
from web.replies import reply


class MeResource:
    """`GET /api/me`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(access=Access.OWN, summary="Who asks, and what they may do", answers={200: (MeAnswer,)})
    }

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        caller = caller_of(req)
        scope = caller.scope
        may = sorted(access.value for access in Access if caller.may(access))
        macs = None if scope.macs is None else sorted(scope.macs)
        answer = MeAnswer(
            actor=caller.actor, role=caller.role, site=scope.site, macs=macs, may=may, version=__version__
        )
        reply(resp, answer)
