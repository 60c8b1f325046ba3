"""Replays: dead letters that somebody wants back in line, and the reopening of their tasks."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, cast

from peewee import Case

from models.base import Database, connection, write
from models.dead_letter_rows import IS_ASKED, DeadLetter
from models.dead_letters import DEAD_STATES
from models.effects import put_steps
from models.rows import StepRecord, TaskRow, task_row
from models.sites import LOCAL_SITE, line_of
from models.statistics import Statistics
from models.tasks import Task, TaskStep
from models.text import storable
from pipeline.clock import Clock
from pipeline.errors import TaskConflict, TaskNotFound

#: `line_of`, in SQL.
_LINE = Case(DeadLetter.site, ((LOCAL_SITE, DeadLetter.mac),), DeadLetter.mac.concat("@").concat(DeadLetter.site))


class AskedReplay(NamedTuple):
    """A dead letter that is to be replayed."""

    letter_id: int
    task_id: str
    mac: str
    lane: str
    site: str

    @property
    def line(self) -> str:
        """The device, as the queue knows it."""
        return line_of(self.site, self.mac)


class Replays:
    """The replays that are asked for; call it inside `models.base.connection()`.

    Every method raises `DatabaseUnavailable`, and has then written all or nothing.
    """

    def __init__(self, database: Database, clock: Clock, statistics: Statistics) -> None:
        self._database = database
        self._clock = clock
        self._statistics = statistics

    def asked(self, *, passing_over: Collection[str], limit: int) -> list[AskedReplay]:
        """The oldest letters to be replayed, without those of the devices passed over.

        Args:
            passing_over: devices, as `models.sites.line_of` names them.
        """
        where = [IS_ASKED, *([_LINE.not_in(list(passing_over))] if passing_over else [])]
        with connection(self._database):
            query = DeadLetter.select(*(getattr(DeadLetter, name) for name in ("id", "task_id", "mac", "lane", "site")))
            oldest = query.where(*where).order_by(DeadLetter.id).limit(limit)
            return [AskedReplay(row.id, row.task_id, row.mac, row.lane, row.site) for row in oldest]

    def count_replayed(self, *, within_ms: int) -> int:
        """How many letters all schedulers together have replayed in the last so many milliseconds."""
        with connection(self._database):
            since_ms = self._clock.now_ms() - within_ms
            return int(DeadLetter.select().where(DeadLetter.replayed_ms > since_ms).count())

    def reopen(self, asked: AskedReplay, *, above_token: int, begun_ms: int) -> TaskRow | None:
        """Accept the task of a letter anew: it has not run and waits to be put in line.

        Of several processes that come with the same letter one gets the task, the others None.

        Args:
            above_token: of the last lease that the queue gave for the task; no lease up to this one can write any more.
            begun_ms: now, by the clock of the queue, epoch ms: its time to live begins anew.
        Raises: TaskConflict when the task has not failed or died, TaskNotFound.
        """
        now_ms = self._clock.now_ms()
        with write(self._database):
            taken = (
                DeadLetter.update(replayed_ms=now_ms, replay_refusal="")
                .where(DeadLetter.id == asked.letter_id, IS_ASKED)
                .execute()
            )
            if not taken:
                return None
            # What is replayed soon after its end may not have been counted yet, and then never would be.
            self._statistics.count_before_replay(asked.task_id)
            return _reopened(asked.task_id, above_token, begun_ms)

    def refuse(self, asked: AskedReplay, reason: str) -> None:
        """Take the wish for a replay away and say why; it may be asked for again."""
        with write(self._database):
            DeadLetter.update(replay_asked_ms=None, replay_refusal=storable(reason)).where(
                DeadLetter.id == asked.letter_id, IS_ASKED
            ).execute()


def _reopened(task_id: str, above_token: int, begun_ms: int) -> TaskRow:
    # The token goes one up, so that a worker that slept since its lease can write nothing; the lease that follows has
    # a larger one still (`replay.lua` leaves a gap).
    known = Task.get_or_none(Task.task_id == task_id)
    if known is None:
        raise TaskNotFound(f"task {task_id} is not in the database any more")
    opened = (
        Task.update(
            state="queued",
            token=max(known.token, above_token) + 1,
            attempts=0,
            code="",
            reason="",
            started_ms=None,
            ended_ms=None,
            due_ms=None,
            run_ms=None,
            is_counted=False,
        )
        .where(Task.task_id == task_id, Task.state.in_(DEAD_STATES), Task.token == known.token)
        .returning(Task)
        .execute()
    )
    rows = [task_row(task) for task in opened]
    if not rows:
        raise TaskConflict(f"task {task_id} is {known.state}: only what failed or is dead can be replayed")
    TaskStep.delete().where(TaskStep.task == task_id).execute()
    put_steps(task_id, [StepRecord("enqueued", "done", begun_ms, begun_ms, "replayed")])
    return rows[0]


def enqueued_times(task_ids: Sequence[str]) -> dict[str, int]:
    """When each task was put in line, epoch ms: when it was accepted, or replayed since."""
    if not task_ids:
        return {}
    with connection():
        query = TaskStep.select(TaskStep.task, TaskStep.ended_ms).where(
            TaskStep.task.in_(list(task_ids)), TaskStep.name == "enqueued", TaskStep.ended_ms.is_null(is_null=False)
        )
        return dict(cast("Iterable[tuple[str, int]]", query.tuples()))
