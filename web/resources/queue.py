"""The queue as a whole: its lanes and its workers."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import falcon

from pipeline.queue import Inspector, Roster
from web.answers import LaneAnswer, LanesAnswer, WorkersAnswer
from web.operations import Operation
from web.replies import reply
from web.views import worker_answer


class LanesResource:
    """`GET /api/queue`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(summary="Each lane as it is now", answers={200: (LanesAnswer,)}, refusals=(503,))
    }

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        lanes = [LaneAnswer(**dataclasses.asdict(status)) for status in self._inspector.lanes()]
        reply(resp, LanesAnswer(lanes=lanes))


class WorkersResource:
    """`GET /api/workers`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(summary="The live workers", answers={200: (WorkersAnswer,)}, refusals=(503,))
    }

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        reply(resp, WorkersAnswer(workers=[worker_answer(entry) for entry in self._roster.workers()]))
