"""Tasks by what is known of them, newest first, a page at a time.

A page begins after a place, the creation time and id of the last task before it, so that tasks accepted meanwhile shift
nothing; each page is one short question, so that no reader keeps the database from its housekeeping.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from peewee import JOIN, Expression, Tuple

from models.base import Database, connection
from models.results import Detection
from models.scope import EVERYTHING, Scope
from models.tasks import Task

#: Tasks among which one page looks for a text: no index knows what stands inside texts.
TEXT_SCAN = 5_000

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
    Task.created_ms,
    Task.started_ms,
    Task.ended_ms,
)


class Place(NamedTuple):
    """Where a page begins: after this task."""

    created_ms: int
    task_id: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tasks are meant: those to which all that is given applies.

    Args:
        within: no others than these, whatever else is given.
        from_ms, until_ms: accepted at or after, and before, epoch ms.
        text: contained in what was read or screened, letters of either case.
    """

    within: Scope = EVERYTHING
    mac: str | None = None
    state: str | None = None
    lane: str | None = None
    from_ms: int | None = None
    until_ms: int | None = None
    has_hit: bool | None = None
    text: str | None = None


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
        after: where the next page begins; None when this is the last. A search for a text looks at `TEXT_SCAN` tasks,
            so that a page which is not the last may hold few tasks, or none.
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
        scan = limit + 1 if wanted.text is None else max(limit + 1, TEXT_SCAN)
        with connection(self._database):
            looked_at = _places(wanted, after, scan)
            found = looked_at if wanted.text is None else _holding(wanted.text, looked_at)
            page = found[:limit]
            tasks = _listed([place.task_id for place in page], with_text=with_text)
        if len(found) > limit:
            return TaskPage(tasks, page[-1])
        return TaskPage(tasks, looked_at[-1] if len(looked_at) == scan else None)

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


def _places(wanted: Wanted, after: Place | None, limit: int) -> list[Place]:
    """The first tasks to which all applies but the text, read off an index."""
    columns = (
        (Task.mac, wanted.mac),
        (Task.state, wanted.state),
        (Task.lane, wanted.lane),
        (Task.has_hit, wanted.has_hit),
    )
    conditions: list[Expression] = [column == value for column, value in columns if value is not None]
    conditions += wanted.within.conditions(Task)
    if wanted.from_ms is not None:
        conditions.append(Task.created_ms >= wanted.from_ms)
    if wanted.until_ms is not None:
        conditions.append(Task.created_ms < wanted.until_ms)
    if after is not None:
        conditions.append(Tuple(Task.created_ms, Task.task_id) < Tuple(after.created_ms, after.task_id))
    query = Task.select(Task.created_ms, Task.task_id).order_by(Task.created_ms.desc(), Task.task_id.desc())
    chosen = query.where(*conditions) if conditions else query
    rows = cast("Iterable[tuple[int, str]]", chosen.limit(limit).tuples())
    return [Place(*row) for row in rows]


def _holding(text: str, places: Sequence[Place]) -> list[Place]:
    """Those whose text holds `text`."""
    ids = [place.task_id for place in places]
    query = Detection.select(Detection.task).where(Detection.task.in_(ids), Detection.text.contains(text))
    holding = {task_id for (task_id,) in cast("Iterable[tuple[str]]", query.tuples())}
    return [place for place in places if place.task_id in holding]


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
