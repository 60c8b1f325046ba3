"""The last snapshot of the scheduler, whole for people and short for autoscalers."""

from collections.abc import Mapping
from typing import ClassVar

import falcon
from pydantic import ValidationError

from pipeline.queue import Inspector
from web.access import Access
from web.errors import no_watermark
from web.house_answers import ScaleAnswer, ScaleLane, WatermarkAnswer
from web.operations import Operation
from web.replies import reply


class WatermarkResource:
    """`GET /api/watermark`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE,
            summary="The last snapshot of the scheduler",
            answers={200: (WatermarkAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        reply(resp, _snapshot(self._inspector))


class ScaleResource:
    """`GET /api/scale`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.HOUSE,
            summary="How many workers each lane should have",
            answers={200: (ScaleAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        snapshot = _snapshot(self._inspector)
        lanes = {
            name: ScaleLane(
                desired_workers=lane.desired_workers,
                workers=lane.workers,
                busy_workers=lane.busy_workers,
                slots=lane.slots.effective,
                waiting=lane.waiting,
                delayed=lane.delayed,
                in_flight=lane.leased,
                work_seconds=round(lane.work_ms / 1000, 3),
                expected_wait_seconds=None if lane.expected_wait_ms is None else lane.expected_wait_ms / 1000,
            )
            for name, lane in snapshot.lanes.items()
        }
        target_s = snapshot.target_wait_ms / 1000
        reply(resp, ScaleAnswer(timestamp=snapshot.timestamp, target_wait_seconds=target_s, lanes=lanes))


def _snapshot(inspector: Inspector) -> WatermarkAnswer:
    """The snapshot as it is shown.

    Raises: HttpProblem, when there is none; one of another version is none, as its scheduler is about to be replaced.
    """
    raw = inspector.watermark()
    if raw is None:
        raise no_watermark()
    try:
        return WatermarkAnswer(**raw)
    except ValidationError as exc:
        raise no_watermark() from exc
