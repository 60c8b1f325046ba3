"""Duty: what waits in the queue though the ledger has ended it, or does not have it, goes out of the line.

The other direction, rows that the queue does not know, is `reconcile`.
"""

import logging
from collections.abc import Callable, Sequence

from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue, Inspector, Mark, OpenTask, TaskState

log = logging.getLogger(__name__)

#: Tasks of one page: one question to the queue and one to the ledger.
_PAGE = 500
#: Pages of one round; at a round every 30 s a million open tasks are walked in 25 minutes.
_PAGES_A_ROUND = 40

#: What may be followed: a task that somebody holds finds out by itself that it has ended.
_WAITING = (TaskState.QUEUED, TaskState.DELAYED)


class Sweep:
    """Walks all open tasks of the queue, some pages each round, and begins anew after the last.

    Args:
        endings_of: the ledger's state and code of each of these tasks; those it does not have are left out.
    """

    def __init__(
        self, queue: FairQueue, inspector: Inspector, endings_of: Callable[[Sequence[str]], dict[str, tuple[str, str]]]
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._endings_of = endings_of
        self._mark = Mark()

    def run(self) -> None:
        """Do one round, from where the last one stopped."""
        followed = 0
        for _ in range(_PAGES_A_ROUND):
            tasks, after = self._page()
            followed += self._follow([task for task in tasks if task.state in _WAITING])
            # Only now: a page that could not be compared is walked again.
            self._mark = after or Mark()
            if after is None:
                break
        if followed:
            log.warning("tasks that had ended in the ledger left the line", extra={"tasks": followed})

    def _page(self) -> tuple[Sequence[OpenTask], Mark | None]:
        try:
            return self._inspector.open_tasks(self._mark, limit=_PAGE)
        except QueueUnavailable:
            # A shard that does not answer must not keep the others from being walked.
            self._mark = self._inspector.past(self._mark) or Mark()
            raise

    def _follow(self, tasks: Sequence[OpenTask]) -> int:
        """Compare one page; the queue was asked first, and a row is there before its task is in line."""
        if not tasks:
            return 0
        endings = self._endings_of([task.task_id for task in tasks])
        return sum(self._follow_one(task, endings.get(task.task_id)) for task in tasks)

    def _follow_one(self, task: OpenTask, ending: tuple[str, str] | None) -> bool:
        if ending is None:
            return bool(self._queue.forget(task.task_id, task.token))
        state, code = TaskState(ending[0]), ending[1]
        return state.is_end and bool(self._queue.amend(task.task_id, task.token, ending=state, code=code))
