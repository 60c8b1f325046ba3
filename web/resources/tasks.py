"""One task: its state and result, and its cancellation."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from models.ledger import Ledger, TaskView
from models.scope import Scope
from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable, TaskEnded, TaskNotFound
from pipeline.intake import row_state
from pipeline.queue import Explanation, FairQueue, Inspector, Roster, TaskState
from pipeline.recovery import cancel
from pipeline.settings import Settings
from pipeline.submission import id_fault
from web.access import Access
from web.answers import TaskAnswer
from web.caller import caller_of
from web.long_polls import is_held_back
from web.operations import Operation, Parameter
from web.parameters import whole_number
from web.replies import reply, reply_unless_known
from web.resources.submissions import RETRY_AFTER_S
from web.views import task_answer


class TaskResource:
    """`/api/ocr/tasks/{id}`."""

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
        settings: Settings,
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._roster = roster
        self._ledger = ledger
        self._clock = clock
        self._wait_max_s = settings.long_poll_max_seconds

    def on_get(self, req: falcon.Request, resp: falcon.Response, task_id: str) -> None:
        wait_s = min(whole_number(req, "wait", default=0), self._wait_max_s)
        view = self._view(task_id, caller_of(req).scope)
        if not row_state(view.task).is_end:
            if is_held_back(req.env, self._clock, wait_s):
                return
            resp.set_header("Retry-After", str(RETRY_AFTER_S))
        reply_unless_known(req, resp, task_answer(view, self._explain(view)))

    def on_delete(self, req: falcon.Request, resp: falcon.Response, task_id: str) -> None:
        scope = caller_of(req).scope
        state = row_state(self._view(task_id, scope).task)
        if state.is_end:
            raise TaskEnded(f"task {task_id} has ended", state=state)
        if not cancel(self._queue, self._ledger, task_id, "cancelled by a client"):
            raise TaskEnded(f"task {task_id} has ended meanwhile", state=self._view(task_id, scope).task.state)
        reply(resp, task_answer(self._view(task_id, scope), None))

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
