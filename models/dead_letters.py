"""Dead letters: every task that failed or died, as it was then, kept until somebody drops it."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from peewee import SQL, Expression, Select, fn

from models.base import Database, connection, write
from models.dead_letter_rows import (
    CHOSEN_BY,
    IS_ASKED,
    IS_OPEN,
    REPLAYS,
    Chosen,
    DeadLetter,
    DeadLetterRow,
    dead_letter_row,
)
from models.rows import TaskRow
from models.scope import EVERYTHING, Scope
from pipeline.clock import Clock

__all__ = ["DEAD_STATES", "REPLAYS", "TOTAL_MAX", "Chosen", "DeadLetterRow", "DeadLetters", "Total", "put_dead_letters"]

#: The business log: who asked is not known before there are API keys.
log = logging.getLogger("pipeline.dead_letters")

#: How a task ends that leaves a dead letter.
DEAD_STATES = ("failed", "dead")

#: Letters changed by one statement, so that none of them takes long, whatever is chosen.
_CHUNK = 1_000

#: Letters that a total counts at most, and newest letters among which it looks for them: no index knows every filter,
#: and whoever asks for a page must not wait until a million letters are read. Among a million a total takes 150 ms at
#: worst on SQLite; 120 ms of 200,000 on PostgreSQL (2 busy cores).
TOTAL_MAX = 10_000
_TOTAL_SCAN = 50_000


class Total(NamedTuple):
    """How many letters are chosen.

    Args:
        is_least: there may be more, that were not looked at.
    """

    letters: int
    is_least: bool


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

    def total(self, chosen: Chosen) -> Total:
        """How many letters are chosen, told in bounded time: a look at the newest that an index finds."""
        found = DeadLetter.select(*CHOSEN_BY).where(chosen.narrowest()).order_by(DeadLetter.id.desc())
        newest = found.limit(_TOTAL_SCAN).alias("newest")
        matching = Select([newest], [SQL("1")]).where(*chosen.conditions(newest.c)).limit(TOTAL_MAX + 1)
        with connection(self._database):
            letters = int(matching.count(self._database))
            if letters > TOTAL_MAX:
                return Total(TOTAL_MAX, is_least=True)
            return Total(letters, is_least=found.offset(_TOTAL_SCAN).limit(1).exists())

    def count_replayable(self, chosen: Chosen) -> int:
        """How many letters `ask_replay` would ask for."""
        return self._count([*chosen.conditions(), IS_OPEN])

    def count_asked(self) -> int:
        """How many letters, whoever asked, the scheduler has still to replay."""
        return self._count([IS_ASKED])

    def ask_replay(self, chosen: Chosen) -> int:
        """Have the chosen letters replayed, oldest first and paced, by the scheduler.

        Returns: how many were not asked for or replayed before.
        """
        now_ms = self._clock.now_ms()
        asked = self._in_chunks(
            [*chosen.conditions(), IS_OPEN],
            lambda ids: DeadLetter.update(replay_asked_ms=now_ms, replay_refusal="").where(
                DeadLetter.id.in_(ids), IS_OPEN
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
