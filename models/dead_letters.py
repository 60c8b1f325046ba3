"""Dead letters: every task that failed or died, as it was then, kept until somebody drops it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import BigAutoField, BigIntegerField, CharField, Expression, IntegerField, JSONField, TextField, fn

from models.base import BaseModel, Database, connection, write
from models.rows import TaskRow
from models.scope import EVERYTHING, Scope
from models.text import storable
from pipeline.clock import Clock

#: The business log: who asked is not known before there are API keys.
log = logging.getLogger("pipeline.dead_letters")

#: How a task ends that leaves a dead letter.
DEAD_STATES = ("failed", "dead")

#: Letters changed by one statement, so that none of them takes long, whatever is chosen.
_CHUNK = 1_000


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
_IS_REPLAYED: Expression = DeadLetter.replayed_ms.is_null(is_null=False)
_IS_NEITHER: Expression = DeadLetter.replay_asked_ms.is_null() & DeadLetter.replayed_ms.is_null()

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
    within: Scope = EVERYTHING

    def named(self) -> dict[str, Any]:
        """What is given, by name, besides the scope."""
        names = [name for name in self.__dataclass_fields__ if name != "within"]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def conditions(self) -> Iterator[Expression]:
        """At least one; together they say which rows are meant."""
        yield DeadLetter.id > 0
        yield from self.within.conditions(DeadLetter)
        if self.ids is not None:
            yield DeadLetter.id.in_(self.ids)
        for name in ("task_id", "mac", "code", "lane", "state"):
            if (value := getattr(self, name)) is not None:
                yield getattr(DeadLetter, name) == storable(value)
        if self.older_than_ms is not None:
            yield DeadLetter.dead_ms < self.older_than_ms
        if self.newer_than_ms is not None:
            yield DeadLetter.dead_ms >= self.newer_than_ms


class DeadLetters:
    """The dead letters of the bound database.

    Every method raises `DatabaseUnavailable`; one that changes many letters has then changed some of them, and may be
    called again.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, letter_id: int, within: Scope = EVERYTHING) -> DeadLetterRow | None:
        return next(iter(self.page(Chosen(ids=(letter_id,), within=within), before=None, limit=1)), None)

    def page(self, chosen: Chosen, *, before: int | None, limit: int) -> list[DeadLetterRow]:
        """The next `limit` letters, newest first.

        Args:
            before: the last id of the page before; None for the first page.
        """
        where = [*chosen.conditions(), *([] if before is None else [DeadLetter.id < before])]
        with connection(self._database):
            query = DeadLetter.select().where(*where).order_by(DeadLetter.id.desc()).limit(limit)
            return [dead_letter_row(letter) for letter in query]

    def known(self, letter_ids: tuple[int, ...], within: Scope = EVERYTHING) -> set[int]:
        """Those of the ids that there are inside the scope."""
        where = Chosen(ids=letter_ids, within=within).conditions()
        with connection(self._database):
            query = DeadLetter.select(DeadLetter.id).where(*where)
            return {letter.id for letter in query}

    def count(self, chosen: Chosen) -> int:
        """How many letters `drop` would drop."""
        return self._count(list(chosen.conditions()))

    def count_replayable(self, chosen: Chosen) -> int:
        """How many letters `ask_replay` would ask for."""
        return self._count([*chosen.conditions(), _IS_NEITHER])

    def count_asked(self) -> int:
        """How many letters, whoever asked, the scheduler has still to replay."""
        return self._count([IS_ASKED])

    def ask_replay(self, chosen: Chosen) -> int:
        """Have the chosen letters replayed, oldest first and paced, by the scheduler.

        Returns: how many were not asked for or replayed before.
        """
        now_ms = self._clock.now_ms()
        asked = self._in_chunks(
            [*chosen.conditions(), _IS_NEITHER],
            lambda ids: DeadLetter.update(replay_asked_ms=now_ms, replay_refusal="").where(
                DeadLetter.id.in_(ids), _IS_NEITHER
            ),
        )
        log.info("a replay was asked for", extra={"chosen": chosen.named(), "letters": asked})
        return asked

    def drop(self, chosen: Chosen) -> int:
        """Delete the chosen letters for good, also those that are to be replayed; their tasks stay as they are."""
        dropped = self._in_chunks(
            list(chosen.conditions()), lambda ids: DeadLetter.delete().where(DeadLetter.id.in_(ids))
        )
        log.info("dead letters were dropped", extra={"chosen": chosen.named(), "letters": dropped})
        return dropped

    def _count(self, where: list[Expression]) -> int:
        with connection(self._database):
            return int(DeadLetter.select().where(*where).count())

    def _in_chunks(self, where: list[Expression], change: Callable[[list[int]], Any]) -> int:
        # Up to the newest of now, so that it ends however fast tasks die meanwhile.
        changed, last = 0, 0
        with connection(self._database):
            newest = DeadLetter.select(fn.MAX(DeadLetter.id)).scalar() or 0
        while last < newest:
            with write(self._database):
                ids = DeadLetter.select(DeadLetter.id).where(*where, DeadLetter.id > last, DeadLetter.id <= newest)
                chunk = [letter.id for letter in ids.order_by(DeadLetter.id).limit(_CHUNK)]
                if not chunk:
                    break
                changed += int(change(chunk).execute())
                last = chunk[-1]
        return changed


def put_dead_letters(ended: Sequence[TaskRow]) -> None:
    """Keep the dead letters of tasks that have just ended, inside the transaction that ended them: of those that failed
    or died, other ends leave none.
    """
    for row in ended:
        if row.state not in DEAD_STATES:
            continue
        DeadLetter.insert(
            task_id=row.task_id,
            mac=row.mac,
            site=row.site,
            lane=row.lane,
            state=row.state,
            code=row.code,
            message=row.reason,
            attempts=row.attempts,
            created_ms=row.created_ms,
            dead_ms=row.ended_ms,
            payload=row.payload,
        ).execute()


def dead_letter_row(letter: DeadLetter) -> DeadLetterRow:
    return DeadLetterRow(**{name: getattr(letter, name) for name in DeadLetterRow.__dataclass_fields__})
