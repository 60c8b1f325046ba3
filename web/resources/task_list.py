"""Tasks: listed, searched, exported."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from models.task_lists import TaskLists, Wanted
from web.access import Access
from web.caller import caller_of
from web.errors import invalid_parameter
from web.exports import MEDIA_TYPES, as_csv, as_json_lines
from web.filters import page_after
from web.operations import Operation, Parameter
from web.parameters import all_values, is_true, single, whole_number
from web.replies import reply_unless_known
from web.task_lists import FILTERS, TasksAnswer, cursor_of, listed_answer, place_of, wanted_by_query

PATH = "/api/ocr/tasks"
_PAGE = 50
_PAGE_MAX = 200
#: Tasks that an export holds at a time, with their texts.
_EXPORT_PAGE = 100
#: Tasks of one export: as many rows as a spreadsheet takes.
_EXPORT_MAX = 1_000_000


class TaskListResource:
    """`GET /api/ocr/tasks`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="Tasks, newest first: a page of them, or all as a file",
            parameters=(
                *FILTERS,
                Parameter("cursor", "where the page begins: taken from `next` of the page before"),
                Parameter("limit", "tasks of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
                Parameter("format", "all tasks as a file, instead of a page", {"enum": list(MEDIA_TYPES)}),
                Parameter("bom", "begin a CSV file with a byte order mark, for Excel", {"type": "boolean"}),
            ),
            answers={200: (TasksAnswer,), 304: ()},
            files=tuple(MEDIA_TYPES.values()),
            refusals=(503,),
        )
    }

    def __init__(self, tasks: TaskLists) -> None:
        self._tasks = tasks

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        wanted = wanted_by_query(req, within=caller_of(req).scope)
        kind = single(req, "format")
        if kind is not None:
            self._export(req, resp, wanted, kind)
            return
        if all_values(req, "bom"):
            raise invalid_parameter("bom", "belongs to format=csv")
        place, limit = place_of(req), whole_number(req, "limit", default=_PAGE)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        page = self._tasks.page(wanted, after=place, limit=limit)
        further = page_after(req, PATH, limit, cursor_of(page.after)) if page.after else None
        reply_unless_known(req, resp, TasksAnswer(tasks=[listed_answer(task) for task in page.tasks], next=further))

    def _export(self, req: falcon.Request, resp: falcon.Response, wanted: Wanted, kind: str) -> None:
        if kind not in MEDIA_TYPES:
            raise invalid_parameter("format", f"must be one of: {', '.join(MEDIA_TYPES)}")
        for name in ("cursor", "limit"):
            if all_values(req, name):
                raise invalid_parameter(name, "belongs to pages; a file holds all tasks")
        has_mark = is_true(req, "bom")
        if kind != "csv" and all_values(req, "bom"):
            raise invalid_parameter("bom", "belongs to format=csv")
        tasks = self._tasks.every(wanted, page=_EXPORT_PAGE, limit=_EXPORT_MAX)
        resp.content_type = MEDIA_TYPES[kind]
        resp.set_header("Content-Disposition", f'attachment; filename="tasks.{kind}"')
        resp.stream = as_csv(tasks, has_mark=has_mark) if kind == "csv" else as_json_lines(tasks)
