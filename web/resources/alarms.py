"""What is wrong right now."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import falcon

from pipeline.alarms import alarms
from web.access import Access
from web.house_answers import AlarmAnswer, AlarmsAnswer
from web.operations import Operation
from web.parts import Parts
from web.replies import reply


class AlarmsResource:
    """`GET /api/alarms`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE, summary="What is wrong right now", answers={200: (AlarmsAnswer,)}, refusals=(503,)
        )
    }

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        parts = self._parts
        found = alarms(parts.inspector, parts.roster, parts.devices, parts.clock, parts.settings)
        reply(resp, AlarmsAnswer(alarms=[AlarmAnswer(**dataclasses.asdict(alarm)) for alarm in found]))
