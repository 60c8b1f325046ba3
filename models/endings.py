"""How many tasks stand in the ledger, asked for all at once."""

from collections.abc import Iterable, Sequence
from typing import cast

from models.base import Database, connection
from models.tasks import Task


def endings_of(database: Database, task_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The state and code of each of these tasks; one that the ledger does not have is left out. One query.

    Raises: DatabaseUnavailable.
    """
    with connection(database):
        query = Task.select(Task.task_id, Task.state, Task.code).where(Task.task_id.in_(list(task_ids)))
        rows = cast("Iterable[tuple[str, str, str]]", query.tuples())
        return {task_id: (state, code) for task_id, state, code in rows}
