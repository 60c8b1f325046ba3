"""One task: its state and result, and its cancellation."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import BoundedSemaphore
from typing import ClassVar

import falcon

from models.ledger import Ledger, TaskView
from models.scope import Scope
from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable, TaskEnded, TaskNotFound
from pipeline.intake import row_state
from pipeline.queue import Explanation, FairQueue, Inspector, Roster, TaskState
from pipeline.settings import Settings
from pipeline.submission import id_fault
from web.access import Access
from web.answers import TaskAnswer
from web.caller import caller_of
from web.operations import Operation, Parameter
from web.parameters import whole_number
from web.replies import reply
from web.resources.submissions import RETRY_AFTER_S
from web.views import task_answer

#: Seconds between two looks at a task that somebody waits for: short at first, when most of them end.
_FIRST_LOOK_S = 0.1
_LONGEST_LOOK_S = 1.0


class TaskResource:
    """`/api/ocr/tasks/{id}`.

    Args:
        pause: sleeps for so many seconds.
    """

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.OWN,
            summary="State, steps and result of a task",
            parameters=(
                Parameter(
                    "wait",
                    "seconds to hold the answer back until the task has ended, at most as many as the server allows",
                    {"type": "integer", "minimum": 0},
                ),
            ),
            answers={200: (TaskAnswer,), 304: ()},
            refusals=(404, 503),
        ),
        "DELETE": Operation(
            access=Access.SUBMIT, summary="Cancel a task", answers={200: (TaskAnswer,)}, refusals=(404, 409, 503)
        ),
    }

    def __init__(
        self,
        queue: FairQueue,
        inspector: Inspector,
        roster: Roster,
        ledger: Ledger,
        clock: Clock,
        pause: Callable[[float], None],
        settings: Settings,
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._roster = roster
        self._ledger = ledger
        self._clock = clock
        self._pause = pause
        self._wait_max_s = settings.long_poll_max_seconds
        # Who waits holds a thread: half of them stay free for everybody else, and whoever is too many is answered now.
        self._waiters = BoundedSemaphore(max(1, settings.web_threads // 2))

    def on_get(self, req: falcon.Request, resp: falcon.Response, task_id: str) -> None:
        wait_s = min(whole_number(req, "wait", default=0), self._wait_max_s)
        view = self._wait_for_end(task_id, caller_of(req).scope, wait_s)
        if not row_state(view.task).is_end:
            resp.set_header("Retry-After", str(RETRY_AFTER_S))
        answer = task_answer(view, self._explain(view))
        resp.etag = hashlib.sha256(answer.model_dump_json().encode()).hexdigest()[:32]
        if _is_known_to_client(req, resp):
            resp.status = 304
        else:
            reply(resp, answer)

    def on_delete(self, req: falcon.Request, resp: falcon.Response, task_id: str) -> None:
        scope = caller_of(req).scope
        state = row_state(self._view(task_id, scope).task)
        if state.is_end:
            raise TaskEnded(f"task {task_id} has ended", state=state)
        # The ledger decides, so that a task that is being finished just now ends one way in both books; whoever claims
        # a cancelled one that the queue could not be told of finds it ended.
        if not self._ledger.close(task_id, TaskState.CANCELLED, "cancelled", "cancelled by a client"):
            raise TaskEnded(f"task {task_id} has ended meanwhile", state=self._view(task_id, scope).task.state)
        with suppress(TaskNotFound, TaskEnded, QueueUnavailable):
            self._queue.cancel(task_id)
        reply(resp, task_answer(self._view(task_id, scope), None))

    def _wait_for_end(self, task_id: str, scope: Scope, wait_s: int) -> TaskView:
        view = self._view(task_id, scope)
        if wait_s == 0 or row_state(view.task).is_end or not self._waiters.acquire(blocking=False):
            return view
        try:
            ends_ms = self._clock.monotonic_ms() + wait_s * 1000
            look_s = _FIRST_LOOK_S
            while not row_state(view.task).is_end and (left_ms := ends_ms - self._clock.monotonic_ms()) > 0:
                self._pause(min(look_s, left_ms / 1000))
                look_s = min(look_s * 1.5, _LONGEST_LOOK_S)
                view = self._view(task_id, scope)
            return view
        finally:
            self._waiters.release()

    def _view(self, task_id: str, scope: Scope) -> TaskView:
        # An id that cannot have been given out is not worth a question; it might hold what a database cannot.
        view = None if id_fault(task_id) else self._ledger.view(task_id, scope)
        if view is None:
            raise TaskNotFound("no task has this id")
        return view

    def _explain(self, view: TaskView) -> Explanation | None:
        if row_state(view.task) not in (TaskState.QUEUED, TaskState.DELAYED):
            return None
        try:
            found = self._inspector.explain(view.task.task_id, slots=self._roster.slots())
        except QueueUnavailable:  # the rest of the answer stands without it
            return None
        return found if found and found.state in (TaskState.QUEUED, TaskState.DELAYED) else None


def _is_known_to_client(req: falcon.Request, resp: falcon.Response) -> bool:
    ours = str(resp.etag).strip('"')
    return any(tag == "*" or str(tag) == ours for tag in req.if_none_match or ())
