"""What is asked and said about dead letters over HTTP."""

from typing import Annotated, Any, Literal, Self

import falcon
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from models.dead_letters import REPLAYS, TOTAL_MAX, Chosen
from pipeline.mac import normalize_mac
from pipeline.submission import Rules
from web.answers import Answer
from web.filters import filter_by_query
from web.operations import Parameter
from web.schemas import ClientId, Mac, Request

#: Ids of one request.
IDS_MAX = 1_000
#: Letters that a replay takes without `confirm`.
UNCONFIRMED_MAX = 1_000
#: Ids and times that JSON carries unharmed.
NUMBER_MAX = 2**53 - 1

Number = Annotated[int, Field(ge=1, le=NUMBER_MAX)]

FILTERS = (
    Parameter("task_id", "only the letters of this task"),
    Parameter("mac", "only of this device"),
    Parameter("code", "only with this error code"),
    Parameter("lane", "only of this lane", {"enum": ["ocr", "text"]}),
    Parameter("state", "only tasks that ended so", {"enum": ["failed", "dead"]}),
    Parameter("older_than_ms", "dead before this, epoch ms", {"type": "integer", "minimum": 1}),
    Parameter("newer_than_ms", "dead at this time or later, epoch ms", {"type": "integer", "minimum": 1}),
    Parameter(
        "replay",
        "only those that may be asked for, that are to be replayed, that were, or whose last replay was refused",
        {"enum": list(REPLAYS)},
    ),
)
_NUMBERS = ("older_than_ms", "newer_than_ms")


class DeadLetterFilter(Request):
    """Which dead letters are meant: those to which all that is given applies."""

    task_id: ClientId | None = None
    mac: Mac | None = None
    code: Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")] | None = None
    lane: Literal["ocr", "text"] | None = None
    state: Literal["failed", "dead"] | None = None
    older_than_ms: Number | None = Field(None, description="dead before this, epoch ms")
    newer_than_ms: Number | None = Field(None, description="dead at this time or later, epoch ms")
    replay: Literal["open", "asked", "replayed", "refused"] | None = None

    def chosen(self) -> Chosen:
        return Chosen(**{**self.model_dump(), "mac": normalize_mac(self.mac) if self.mac else None})


class ReplayRequest(Request):
    """Which dead letters to replay: exactly one of ids, filter and all."""

    ids: Annotated[list[Number], Field(min_length=1, max_length=IDS_MAX)] | None = None
    filter: DeadLetterFilter | None = None
    all: bool = False
    dry_run: bool = Field(default=False, description="only count")
    confirm: Number | None = Field(
        None, description=f"as many letters at most; needed when they are more than {UNCONFIRMED_MAX}: dry_run counts"
    )

    @model_validator(mode="after")
    def _name_one(self) -> Self:
        is_empty = self.filter is not None and self.filter.chosen() == Chosen()
        if is_empty or (self.ids is not None) + (self.filter is not None) + self.all != 1:
            fault = "name exactly one of: ids, a filter that is not empty, all"
            raise PydanticCustomError("fault", "{fault}", {"fault": fault})
        return self

    def chosen(self) -> Chosen:
        if self.ids is not None:
            return Chosen(ids=tuple(self.ids))
        return self.filter.chosen() if self.filter else Chosen()


class DeadLetterAnswer(Answer):
    """A task that failed or died, as it was then; times in epoch ms."""

    id: int
    task_id: str
    mac: str
    site: str
    lane: str
    state: str
    code: str
    message: str
    attempts: int
    created_ms: int = Field(description="when the task was accepted")
    dead_ms: int
    replay_asked_ms: int | None
    replayed_ms: int | None
    replay_refusal: str = Field(description="why the last replay that was asked for did not happen")


class FullDeadLetterAnswer(DeadLetterAnswer):
    """The same with what the task was given to do."""

    payload: dict[str, Any]


class DeadLettersAnswer(Answer):
    """One page, newest first."""

    dead_letters: list[DeadLetterAnswer]
    next: str | None = Field(description="where the next page is; null on the last")
    total: int = Field(description=f"letters that the filter means, on all pages; counted up to {TOTAL_MAX:,}")
    total_is_least: bool = Field(description="there may be more than total: only the newest letters were looked at")


class LettersAnswer(Answer):
    """How many dead letters are now to be replayed, or are dropped; or would be, after a dry run."""

    letters: int
    dry_run: bool


def chosen_by_query(req: falcon.Request, rules: Rules) -> Chosen:
    """The dead letters that the query parameters of `FILTERS` mean.

    Raises: HttpProblem 400 naming every parameter that is wrong.
    """
    return filter_by_query(req, FILTERS, DeadLetterFilter, rules, _NUMBERS).chosen()
