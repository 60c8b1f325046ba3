"""The rows of dead letters, and how some of them are chosen."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from peewee import BigAutoField, BigIntegerField, CharField, Expression, IntegerField, JSONField, TextField

from models.base import BaseModel
from models.scope import EVERYTHING, Scope
from models.text import storable

#: What a replay may have come to: refused letters are open, too, and may be asked for again.
REPLAYS = ("open", "asked", "replayed", "refused")


class DeadLetter(BaseModel):
    """A task at its bad end. One that is replayed and ends badly again has two of them, linked by its id."""

    id = BigAutoField()
    task_id = CharField(64, index=True)
    mac = CharField(12)
    site = CharField(64)
    lane = CharField(16)
    state = CharField(16)
    code = CharField(64)
    message = TextField()
    attempts = IntegerField()
    created_ms = BigIntegerField()
    dead_ms = BigIntegerField()
    payload = JSONField()
    replay_asked_ms = BigIntegerField(null=True)
    replayed_ms = BigIntegerField(null=True)
    replay_refusal = TextField(default="")


#: Asked to be replayed and not yet replayed.
IS_ASKED: Expression = DeadLetter.replay_asked_ms.is_null(is_null=False) & DeadLetter.replayed_ms.is_null()
#: Neither of both: may be asked for.
IS_OPEN: Expression = DeadLetter.replay_asked_ms.is_null() & DeadLetter.replayed_ms.is_null()

# Each page of each filter is read off an index, newest first; the scheduler's look for what is asked costs nothing
# when nothing is.
DeadLetter.add_index(DeadLetter.mac, DeadLetter.id, name="dead_letter_mac")
DeadLetter.add_index(DeadLetter.code, DeadLetter.id, name="dead_letter_code")
DeadLetter.add_index(DeadLetter.lane, DeadLetter.id, name="dead_letter_lane")
DeadLetter.add_index(DeadLetter.id, where=IS_ASKED, name="dead_letter_asked")
DeadLetter.add_index(
    DeadLetter.replayed_ms, where=DeadLetter.replayed_ms.is_null(is_null=False), name="dead_letter_replayed"
)


@dataclass(frozen=True, slots=True)
class DeadLetterRow:
    """A dead letter; times in epoch ms, None when not yet.

    Args:
        created_ms: when its task was accepted.
        replay_refusal: why the last replay that was asked for did not happen; empty when none was refused.
    """

    id: int
    task_id: str
    mac: str
    site: str
    lane: str
    state: str
    code: str
    message: str
    attempts: int
    created_ms: int
    dead_ms: int
    payload: dict[str, Any]
    replay_asked_ms: int | None
    replayed_ms: int | None
    replay_refusal: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which dead letters are meant: those to which all that is given applies, so an empty one means all.

    Args:
        ids: any of these; None for whatever id.
        older_than_ms: dead before this, epoch ms.
        newer_than_ms: dead at this or later, epoch ms.
        replay: one of `REPLAYS`.
        within: no others than these, whatever else is given.
    """

    ids: tuple[int, ...] | None = None
    task_id: str | None = None
    mac: str | None = None
    code: str | None = None
    lane: str | None = None
    state: str | None = None
    older_than_ms: int | None = None
    newer_than_ms: int | None = None
    replay: str | None = None
    within: Scope = EVERYTHING

    def named(self) -> dict[str, Any]:
        """What is given, by name, besides the scope."""
        names = [name for name in self.__dataclass_fields__ if name != "within"]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def conditions(self, letters: Any = DeadLetter) -> Iterator[Expression]:
        """At least one; together they say which rows are meant.

        Args:
            letters: the table, or a query with all columns that a choice may go by.
        """
        yield letters.id > 0
        yield from self.within.conditions(letters)
        if self.ids is not None:
            yield letters.id.in_(self.ids)
        for name in ("task_id", "mac", "code", "lane", "state"):
            if (value := getattr(self, name)) is not None:
                yield getattr(letters, name) == storable(value)
        if self.older_than_ms is not None:
            yield letters.dead_ms < self.older_than_ms
        if self.newer_than_ms is not None:
            yield letters.dead_ms >= self.newer_than_ms
        yield from self._replay_conditions(letters)

    def narrowest(self) -> Expression:
        """The one condition by which an index finds the letters; of several the one that usually leaves the fewest."""
        for name in ("task_id", "mac", "code", "lane"):
            if getattr(self, name) is not None:
                return list(Chosen(**{name: getattr(self, name)}).conditions())[-1]
        return IS_ASKED if self.replay == "asked" else DeadLetter.id > 0

    def _replay_conditions(self, letters: Any) -> Iterator[Expression]:
        if self.replay in ("open", "refused"):
            yield letters.replay_asked_ms.is_null() & letters.replayed_ms.is_null()
        if self.replay == "refused":
            yield letters.replay_refusal != ""
        if self.replay == "asked":
            yield letters.replay_asked_ms.is_null(is_null=False) & letters.replayed_ms.is_null()
        if self.replay == "replayed":
            yield letters.replayed_ms.is_null(is_null=False)


#: The columns that a choice may go by.
CHOSEN_BY = (
    DeadLetter.id,
    DeadLetter.task_id,
    DeadLetter.mac,
    DeadLetter.site,
    DeadLetter.lane,
    DeadLetter.state,
    DeadLetter.code,
    DeadLetter.dead_ms,
    DeadLetter.replay_asked_ms,
    DeadLetter.replayed_ms,
    DeadLetter.replay_refusal,
)


def dead_letter_row(letter: DeadLetter) -> DeadLetterRow:
    return DeadLetterRow(**{name: getattr(letter, name) for name in DeadLetterRow.__dataclass_fields__})
