"""The queue as a whole: its lanes and its workers."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import falcon

from pipeline.clock import Clock
from pipeline.queue import Inspector, Roster, WorkerView
from web.access import Access
from web.house_answers import LaneAnswer, LanesAnswer, WorkerAnswer, WorkersAnswer
from web.operations import Operation
from web.replies import reply


class LanesResource:
    """`GET /api/queue`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE, summary="Each lane as it is now", answers={200: (LanesAnswer,)}, refusals=(503,)
        )
    }

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        lanes = [LaneAnswer(**dataclasses.asdict(status)) for status in self._inspector.lanes()]
        reply(resp, LanesAnswer(lanes=lanes))


class WorkersResource:
    """`GET /api/workers`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE, summary="The live workers", answers={200: (WorkersAnswer,)}, refusals=(503,)
        )
    }

    def __init__(self, roster: Roster, clock: Clock) -> None:
        self._roster = roster
        self._clock = clock

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        now_ms = self._clock.now_ms()
        views = [WorkerView.of(entry, now_ms) for entry in self._roster.workers()]
        reply(resp, WorkersAnswer(workers=[WorkerAnswer(**dataclasses.asdict(view)) for view in views]))
