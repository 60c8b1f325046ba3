"""What is asked and said about lists of tasks over HTTP."""

import re
from datetime import datetime
from typing import Literal

import falcon
from pydantic import Field

from models.scope import Scope
from models.task_lists import ListedTask, Place, Wanted
from models.tasks import END_STATES, OPEN_STATES
from pipeline.errors import InvalidMac
from pipeline.mac import normalize_mac
from pipeline.queue import TASK_LANES
from pipeline.submission import id_fault, text_fault
from web.answers import Answer
from web.cursors import cursor_saying, said_by_cursor
from web.errors import invalid_parameter
from web.operations import Parameter
from web.parameters import one_of, single

STATES = (*OPEN_STATES, *END_STATES)
#: Characters of a text that is looked for.
TEXT_MAX_CHARS = 200
#: Times after the year 2286 are a mistake in the unit.
_TIME_MAX_MS = 9_999_999_999_999
_TIME = {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "format": "date-time"}]}
_EPOCH_MS = re.compile(r"[0-9]{1,13}", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}", re.ASCII)
_CURSOR = re.compile(r"([0-9]{1,13}):([0-9A-Za-z_-]{1,64})", re.ASCII)

FILTERS = (
    Parameter("mac", "only of this device"),
    Parameter("state", "only in this state", {"enum": list(STATES)}),
    Parameter("lane", "only of this lane: ocr for images, text for texts", {"enum": list(TASK_LANES)}),
    Parameter("detection_id", "only with this id, which the client gave its own finding"),
    Parameter(
        "image_sha256",
        "only with this image: the SHA-256 of its file, in hexadecimal digits",
        {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"},
    ),
    Parameter("from", "accepted at this time or later: epoch ms, or RFC 3339 with its zone", _TIME),
    Parameter("until", "accepted before this time", _TIME),
    Parameter("hit", "only with sensitive words, or only without", {"type": "boolean"}),
    Parameter(
        "text",
        "only where the text that was read or screened holds this, in letters of either case",
        {"type": "string", "minLength": 1, "maxLength": TEXT_MAX_CHARS},
    ),
)


class ListedTaskAnswer(Answer):
    """A task in a list; times are epoch milliseconds, what was found is null before it is done."""

    task_id: str
    mac: str
    lane: str
    state: str
    attempts: int
    code: str = Field(description="why it ended badly or is put back; empty when neither")
    reason: str
    size_bytes: int
    detection_id: str | None
    image_sha256: str | None = Field(description="of its file as it came; null for a text")
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    suggestion: str | None = Field(description="block, review or pass")
    label: str | None
    level: int | None
    hit_count: int | None
    words: tuple[str, ...] = Field(description="the words that were found, each once")


class ExportedTask(ListedTaskAnswer):
    """A line of an export: the same with the text."""

    text: str | None = Field(description="that was read or screened")


class TasksAnswer(Answer):
    """One page, newest first."""

    tasks: list[ListedTaskAnswer]
    next: str | None = Field(
        description="where the next page is; null on the last. With several filters, or a text, a page looks at 5,000 "
        "tasks, and may hold none though there is a next one"
    )


def wanted_by_query(req: falcon.Request, *, within: Scope) -> Wanted:
    """The tasks that the query parameters of `FILTERS` mean.

    Raises: HttpProblem 400.
    """
    return Wanted(
        within=within,
        mac=_mac(req),
        state=one_of(req, "state", STATES),
        lane=one_of(req, "lane", TASK_LANES),
        from_ms=_time_ms(req, "from"),
        until_ms=_time_ms(req, "until"),
        has_hit={"true": True, "false": False, None: None}[one_of(req, "hit", ("true", "false"))],
        text=_text(req),
        detection_id=_detection_id(req),
        image_sha256=_image_sha256(req),
    )


def place_of(req: falcon.Request) -> Place | None:
    """Where the page begins.

    Raises: HttpProblem 400 for a cursor that we did not make.
    """
    found = said_by_cursor(req, _CURSOR)
    return Place(int(found[1]), found[2]) if found else None


def cursor_of(place: Place) -> str:
    return cursor_saying(f"{place.created_ms}:{place.task_id}")


def listed_answer(task: ListedTask) -> ListedTaskAnswer:
    return ListedTaskAnswer.model_validate(task, from_attributes=True)


def exported_task(task: ListedTask) -> ExportedTask:
    return ExportedTask.model_validate(task, from_attributes=True)


def _mac(req: falcon.Request) -> str | None:
    given = single(req, "mac")
    try:
        return None if given is None else normalize_mac(given)
    except InvalidMac as exc:
        raise invalid_parameter("mac", exc.problems[0].detail) from exc


def _detection_id(req: falcon.Request) -> str | None:
    given = single(req, "detection_id")
    fault = None if given is None else id_fault(given)
    if fault:
        raise invalid_parameter("detection_id", fault)
    return given


def _image_sha256(req: falcon.Request) -> str | None:
    given = single(req, "image_sha256")
    if given is not None and not _SHA256.fullmatch(given):
        raise invalid_parameter("image_sha256", "must be 64 hexadecimal digits")
    return None if given is None else given.lower()


def _text(req: falcon.Request) -> str | None:
    given = single(req, "text")
    fault = None if given is None else text_fault(given, TEXT_MAX_CHARS)
    if fault:
        raise invalid_parameter("text", fault)
    return given


def _time_ms(req: falcon.Request, name: Literal["from", "until"]) -> int | None:
    given = single(req, name)
    if given is None:
        return None
    if _EPOCH_MS.fullmatch(given):
        return int(given)
    if _TIMESTAMP.fullmatch(given):
        try:
            return min(round(datetime.fromisoformat(given.upper()).timestamp() * 1000), _TIME_MAX_MS)
        except (ValueError, OverflowError):  # the 31st of February
            pass
    raise invalid_parameter(name, "must be epoch milliseconds, or a date and time with its zone: 2026-02-01T00:00:00Z")
