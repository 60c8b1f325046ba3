"""Is the process alive, and can the service do its work?"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

import falcon

from models.ledger import Ledger
from pipeline.errors import FairlaneError, FieldProblem
from pipeline.queue import TASK_LANES, TOO_LONG_MS, Inspector, Roster, Standstill, standstill_words
from pipeline.storage import ObjectStore
from web.access import Access
from web.errors import not_ready
from web.house_answers import HealthAnswer
from web.operations import Operation
from web.replies import reply

_log = logging.getLogger(__name__)


class LivezResource:
    """`/livez`: 200 as long as this process serves requests, whatever else is down."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(access=Access.OPEN, summary="The process is alive", answers={200: (HealthAnswer,)})
    }

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        reply(resp, HealthAnswer(status="alive"))


class ReadyzResource:
    """`/readyz`: 200 when every part answers and somebody works off what waits, else 503 with each reason."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.OPEN, summary="The service can do its work", answers={200: (HealthAnswer,)}, refusals=(503,)
        )
    }

    def __init__(
        self, inspector: Inspector, roster: Roster, standstill: Standstill, ledger: Ledger, store: ObjectStore
    ) -> None:
        self._inspector = inspector
        self._roster = roster
        self._standstill = standstill
        self._ledger = ledger
        self._store = store

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        reasons = list(self._reasons())
        if reasons:
            raise not_ready(reasons)
        reply(resp, HealthAnswer(status="ready"))

    def _reasons(self) -> Iterator[FieldProblem]:
        checks: dict[str, Callable[[], list[str]]] = {
            "queue": self._unserved_lanes,
            "database": self._ask_database,
            "storage": self._ask_storage,
        }
        for name, check in checks.items():
            try:
                faults = check()
            except FairlaneError as exc:
                _log.warning("not ready", extra={"part": name, "reason": str(exc)})
                faults = ["does not answer"]
            for fault in faults:
                yield FieldProblem(f"/{name}", fault)

    def _unserved_lanes(self) -> list[str]:
        still_ms = self._standstill.look()
        waiting = [status.lane for status in self._inspector.lanes() if status.waiting and status.lane in TASK_LANES]
        workers = self._roster.workers() if waiting else []
        unserved = [lane for lane in waiting if not self._roster.able(workers, lane)]
        return [
            *(f"tasks wait in lane {lane}, which no live worker serves" for lane in unserved),
            *(standstill_words(lane, still_ms[lane]) for lane in waiting if still_ms[lane] >= TOO_LONG_MS),
        ]

    def _ask_database(self) -> list[str]:
        self._ledger.get("readyz")
        return []

    def _ask_storage(self) -> list[str]:
        self._store.check()
        return []
