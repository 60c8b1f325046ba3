"""Which tasks are meant, and how they are found: an index is walked, and what it does not tell is looked at.

A site may have a million tasks, of which ten are of one device and a hundred failed. So the filter that leaves the
fewest says which index is walked; the others are applied to what is found on the way, to so many tasks at most that a
page is never late. Left to itself SQLite, which keeps no statistics, walks all tasks of a site to find the ten.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from heapq import merge
from itertools import islice
from operator import and_
from typing import Any, NamedTuple, cast

from peewee import JOIN, Expression, Tuple

from models.results import Detection
from models.scope import EVERYTHING, Scope
from models.tasks import Task

#: Tasks that one page looks at, at most.
LOOKED_AT_MAX = 5_000
#: Tasks looked at before that: mostly the page is full by then.
_LOOKED_AT_FIRST = 250
#: Devices of a key whose stretches of the index are walked one by one; of more, all tasks of the site are looked at.
_DEVICES_MAX = 50


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
        detection_id: what the client calls its own finding.
        image_sha256: of the file as it came, 64 lowercase hexadecimal digits.
    """

    within: Scope = EVERYTHING
    mac: str | None = None
    state: str | None = None
    lane: str | None = None
    from_ms: int | None = None
    until_ms: int | None = None
    has_hit: bool | None = None
    text: str | None = None
    detection_id: str | None = None
    image_sha256: str | None = None


class _Way(NamedTuple):
    """How they are found.

    Args:
        stretches: of an index, each by what all its tasks have in common; whatever is meant stands in one of them.
        filters: what is looked at, task by task.
    """

    stretches: list[list[Expression]]
    filters: list[Expression]


def find_places(wanted: Wanted, after: Place | None, limit: int) -> tuple[list[Place], Place | None]:
    """The first `limit` places of tasks that are meant, newest first.

    Returns: them, and when they are fewer though there may be more, the last place that was looked at.
    """
    way = _way_to(wanted)
    if not way.filters:
        return [place for place, _ in _walk(way, after, limit)], None
    found: list[Place] = []
    for looked_at in (_LOOKED_AT_FIRST, LOOKED_AT_MAX - _LOOKED_AT_FIRST):
        walked = list(_walk(way, after, looked_at))
        found += [place for place, is_meant in walked if is_meant]
        if len(found) >= limit or len(walked) < looked_at:
            return found[:limit], None
        after = walked[-1][0]
    return found, after


def _way_to(wanted: Wanted) -> _Way:
    site, macs = wanted.within.site, wanted.within.macs
    of_site = [] if site is None else [Task.site == site]
    named = {name: getattr(Task, name) == getattr(wanted, name) for name in _fewest_first(wanted)}
    text = [] if wanted.text is None else [Detection.text.contains(wanted.text)]
    everything, fewest = [*named.values(), *text], next(iter(named), None)
    if wanted.mac is not None and macs is not None and wanted.mac not in macs:
        return _Way([], [])
    if fewest in ("image_sha256", "detection_id"):
        return _timed(wanted, [everything[:1]], [*everything[1:], *wanted.within.conditions(Task)])
    if wanted.mac is None and macs is not None:
        if len(macs) > _DEVICES_MAX:
            return _timed(wanted, [of_site], [*everything, Task.mac.in_(sorted(macs))])
        return _timed(wanted, [[*of_site, Task.mac == mac] for mac in sorted(macs)], everything)
    if fewest is None or (site is not None and fewest == "lane"):
        return _timed(wanted, [of_site], everything)
    return _timed(wanted, [[*of_site, everything[0]]], everything[1:])


def _fewest_first(wanted: Wanted) -> list[str]:
    """The filters that are given but the text, those that leave the fewest tasks first, as a rule."""
    # Nearly all tasks are done and without a hit; an index of lanes halves them at best.
    is_common = {"state": wanted.state == "done", "has_hit": wanted.has_hit is False, "lane": True}
    order = ("image_sha256", "detection_id", "mac", "state", "has_hit", "lane")
    given = [name for name in order if getattr(wanted, name) is not None]
    return sorted(given, key=lambda name: is_common.get(name, False))


def _timed(wanted: Wanted, stretches: list[list[Expression]], filters: list[Expression]) -> _Way:
    times = [] if wanted.from_ms is None else [Task.created_ms >= wanted.from_ms]
    times += [] if wanted.until_ms is None else [Task.created_ms < wanted.until_ms]
    return _Way([[*stretch, *times] for stretch in stretches], filters)


def _walk(way: _Way, after: Place | None, limit: int) -> Iterator[tuple[Place, bool]]:
    """The next `limit` tasks of all stretches, and of each whether it is meant."""
    walks = [_walk_along(stretch, way.filters, after, limit) for stretch in way.stretches]
    return islice(merge(*walks, reverse=True), limit)


def _walk_along(
    stretch: list[Expression], filters: list[Expression], after: Place | None, limit: int
) -> list[tuple[Place, bool]]:
    conditions = [*stretch]
    if after is not None:
        conditions.append(Tuple(Task.created_ms, Task.task_id) < Tuple(*after))
    columns: list[Any] = [Task.created_ms, Task.task_id]
    if filters:
        # Not a condition: then the database might walk another index, as far as it takes to find a page.
        columns.append(reduce(and_, filters))
    query = Task.select(*columns).order_by(Task.created_ms.desc(), Task.task_id.desc()).limit(limit)
    if filters:
        query = query.join(Detection, JOIN.LEFT_OUTER)
    rows = cast("Iterable[tuple[Any, ...]]", (query.where(*conditions) if conditions else query).tuples())
    return [(Place(row[0], row[1]), not filters or bool(row[2])) for row in rows]
