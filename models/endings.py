"""How many tasks stand in the ledger, asked for all at once."""

from collections.abc import Iterable, Sequence
from typing import cast

from models.base import Database, connection
from models.tasks import Task


def states_of(database: Database, task_ids: Sequence[str]) -> dict[str, str]:
    """The state of each of these tasks; one that the ledger does not have is left out. One query.

    Raises: DatabaseUnavailable.
    """
    with connection(database):
        query = Task.select(Task.task_id, Task.state).where(Task.task_id.in_(list(task_ids)))
        return dict(cast("Iterable[tuple[str, str]]", query.tuples()))
