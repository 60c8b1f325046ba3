"""Everything that is measured, for Prometheus."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from web.access import Access
from web.figures.exposition import OPENMETRICS, PLAIN, written
from web.figures.gathering import Gathering
from web.operations import Operation

_OPENMETRICS = OPENMETRICS.partition(";")[0]


class MetricsResource:
    """`GET /metrics`: 200 with what can be read, whatever is down."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.MEASURE,
            summary="Metrics of the whole service, the same from each web process",
            answers={200: ()},
            files=(PLAIN, OPENMETRICS),
        )
    }

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        preferred = req.client_prefers((_OPENMETRICS, "text/plain"))
        # Whoever takes anything gets what people can read, too.
        is_asked_for = _OPENMETRICS in (req.get_header("Accept") or "")
        media_type = OPENMETRICS if preferred == _OPENMETRICS and is_asked_for else PLAIN
        resp.content_type = media_type
        resp.data = written(self._gathering.read(), media_type)
