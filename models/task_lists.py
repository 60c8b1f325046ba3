"""Tasks by what is known of them, newest first, a page at a time.

A page begins after a place, the creation time and id of the last task before it, so that tasks accepted meanwhile shift
nothing; each page is one short question, so that no reader keeps the database from its housekeeping.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from peewee import JOIN

from models.base import Database, connection
from models.results import Detection
from models.task_search import Place, Wanted, find_places
from models.tasks import Task

__all__ = ["ListedTask", "Place", "TaskLists", "TaskPage", "Wanted"]

_SHOWN = (
    Task.task_id,
    Task.mac,
    Task.lane,
    Task.state,
    Task.attempts,
    Task.code,
    Task.reason,
    Task.size_bytes,
    Task.detection_id,
    Task.image_sha256,
    Task.created_ms,
    Task.started_ms,
    Task.ended_ms,
)


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task in a list; what was found is None before it is done, `text` also where it was not asked for."""

    task_id: str
    mac: str
    lane: str
    state: str
    attempts: int
    code: str
    reason: str
    size_bytes: int
    detection_id: str | None
    image_sha256: str | None
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    suggestion: str | None
    label: str | None
    level: int | None
    hit_count: int | None
    words: tuple[str, ...]
    text: str | None


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One page.

    Args:
        after: where the next page begins; None when this is the last. A page looks at so many tasks at most that one
            which is not the last may hold few, or none.
    """

    tasks: tuple[ListedTask, ...]
    after: Place | None


class TaskLists:
    """The tasks of a database; raises `DatabaseUnavailable` when it does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: Wanted, *, after: Place | None, limit: int, with_text: bool = False) -> TaskPage:
        """The next `limit` tasks, 1 or more.

        Args:
            with_text: bring the texts along, too.
        """
        with connection(self._database):
            found, last = find_places(wanted, after, limit + 1)
            tasks = _listed([place.task_id for place in found[:limit]], with_text=with_text)
        return TaskPage(tasks, found[limit - 1] if len(found) > limit else last)

    def every(self, wanted: Wanted, *, page: int, limit: int) -> Iterator[ListedTask]:
        """Each task with its text, newest first, `limit` at most; `page` of them are held at a time."""
        after: Place | None = None
        while limit > 0:
            found = self.page(wanted, after=after, limit=min(page, limit), with_text=True)
            yield from found.tasks
            limit -= len(found.tasks)
            after = found.after
            if after is None:
                return


def _listed(ids: Sequence[str], *, with_text: bool) -> tuple[ListedTask, ...]:
    """Tasks in the order of these ids; one that has been deleted meanwhile is left out."""
    if not ids:
        return ()
    found = (Detection.suggestion, Detection.label, Detection.level, Detection.hit_count, Detection.hits)
    text = (Detection.text,) if with_text else ()
    query = Task.select(*_SHOWN, *found, *text).join(Detection, JOIN.LEFT_OUTER).where(Task.task_id.in_(ids)).dicts()
    rows = {row["task_id"]: row for row in cast("Iterable[dict[str, Any]]", query)}
    return tuple(_listed_task(rows[task_id]) for task_id in ids if task_id in rows)


def _listed_task(row: dict[str, Any]) -> ListedTask:
    hits = row.pop("hits") or []
    words = tuple(dict.fromkeys(str(hit["word"]) for hit in hits))
    return ListedTask(**{"text": None, **row}, words=words)
