"""What is asked and said about dead letters over HTTP."""

from typing import Annotated, Any, Literal

import falcon
from pydantic import Field

from models.dead_letters import REPLAYS, TOTAL_MAX, Chosen
from pipeline.submission import Rules
from web.answers import Answer
from web.choosing import Choice, Number, RowFilter
from web.filters import filter_by_query
from web.operations import Parameter

#: Letters that a replay takes without `confirm`.
UNCONFIRMED_MAX = 1_000

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


class DeadLetterFilter(RowFilter):
    """Which dead letters are meant: those to which all that is given applies."""

    code: Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")] | None = None
    lane: Literal["ocr", "text"] | None = None
    state: Literal["failed", "dead"] | None = None
    older_than_ms: Number | None = Field(None, description="dead before this, epoch ms")
    newer_than_ms: Number | None = Field(None, description="dead at this time or later, epoch ms")
    replay: Literal["open", "asked", "replayed", "refused"] | None = None

    def chosen(self) -> Chosen:
        return Chosen(**self.conditions())


class ReplayRequest(Choice):
    """Which dead letters to replay: exactly one of ids, filter and all."""

    filter: DeadLetterFilter | None = None
    confirm: Number | None = Field(
        None, description=f"as many letters at most; needed when they are more than {UNCONFIRMED_MAX}: dry_run counts"
    )

    def chosen(self) -> Chosen:
        return Chosen(**self.conditions())


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
