"""Read-only views of the queue, bounded, for the API, the command line and the scheduler."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import redis

from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable
from pipeline.queue.connection import reaching
from pipeline.queue.explaining import Explanation, explanation_of
from pipeline.queue.keys import Keys
from pipeline.queue.reading import busy_slots, lane_named, snapshot_of, state_named, whole, words
from pipeline.queue.rules import Rules
from pipeline.queue.scripts import Scripts
from pipeline.queue.types import LANES, Lane, LaneBooks, LaneStatus, LaneSurvey, Mark, OpenTask, QueuedTask, TaskState
from pipeline.queue.walking import open_page

#: Devices looked at, at most, to find the longest wait of a lane.
_OLDEST_LOOKED_AT = 64
#: Devices looked at, at most, to count those of a lane that starve.
_STARVED_LOOKED_AT = 200
#: What is told of a server.
SERVER_FACTS = (
    *("redis_version", "valkey_version", "role", "cluster_enabled", "maxmemory_policy", "maxmemory", "used_memory"),
    *("aof_enabled", "appendfsync", "aof_last_write_status"),
    *("hash-max-listpack-value", "zset-max-listpack-value"),
)
_ENDS_IN_ORDER = (
    TaskState.DONE,
    TaskState.FAILED,
    TaskState.DEAD,
    TaskState.EXPIRED,
    TaskState.EVICTED,
    TaskState.CANCELLED,
)


class Inspector:
    """Looks at the queue and changes nothing.

    Every method raises `QueueUnavailable` when the server does not answer in time.
    """

    def __init__(self, client: redis.Redis, rules: Rules, clock: Clock | None = None) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._clock = clock
        self._starved_ms = rules.starved_ms
        self.keys = Keys(rules.prefix)

    def ping(self) -> None:
        """Return when the server answers."""
        self._ask("PING")

    def now_ms(self) -> int:
        """The time by which the queue works: the server's, epoch ms."""
        if self._clock is not None:
            return self._clock.now_ms()
        seconds, micros = self._ask("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def find(self, task_id: str) -> QueuedTask | None:
        """What the queue knows of a task, or None when it does not know it (any more)."""
        fields = _text_hash(self._ask("HGETALL", self.keys.task(task_id)))
        state, mac, lane = state_named(fields.get("state")), fields.get("mac", ""), fields.get("lane", "")
        if state is None:
            return None
        position = None
        if state is TaskState.QUEUED:
            rank = self._ask("ZRANK", self.keys.line(mac, lane), fields.get("member", ""))
            position = None if rank is None else int(rank) + 1
        due = (
            self._ask("ZSCORE", self.keys.delayed(), f"{lane}:{mac}:{task_id}") if state is TaskState.DELAYED else None
        )
        return QueuedTask(
            task_id=task_id,
            lane=lane_named(lane),
            mac=mac,
            state=state,
            token=whole(fields.get("token")),
            attempts=whole(fields.get("attempts")),
            defers=whole(fields.get("defers")),
            losses=whole(fields.get("losses")),
            enqueued_ms=whole(fields.get("enqueued_ms")),
            due_ms=0 if due is None else int(float(due)),
            position=position,
            code=fields.get("code", ""),
        )

    def explain(self, task_id: str, *, slots: dict[str, int]) -> Explanation | None:
        """Why a task is where it is, and for how long; None when the queue does not know it. O(log n).

        Args:
            slots: by lane, the effective concurrency of all live workers.
        """
        given_now = "" if self._clock is None else self._clock.now_ms()
        reply = self._scripts.call("explain", self.keys.epoch(), given_now, task_id)
        return explanation_of(reply, slots=slots, now_ms=self.now_ms())

    def endings(self, task_ids: Sequence[str], *, home: int | None = None) -> list[tuple[TaskState, str, int] | None]:
        """For each task id: its state, code and the token of its last lease (0 without one since it was put in line),
        or None when the queue does not know it.

        Args:
            home: the shard of their devices (`FairQueue.home_number`), which alone has to answer then.
        """
        with reaching("endings"), self._client.pipeline(transaction=False) as pipe:
            for task_id in task_ids:
                pipe.hmget(self.keys.task(task_id), ["state", "code", "token"])
            answers = pipe.execute()
        return [
            (known, words(code), whole(words(token))) if (known := state_named(words(state))) else None
            for state, code, token in answers
        ]

    def open_tasks(self, mark: Mark, *, limit: int = 500) -> tuple[list[OpenTask], Mark | None]:
        """A page of the tasks that have not ended, and where the next begins; None after the last."""
        return open_page(self._client, self.keys, mark, limit)

    def past(self, mark: Mark) -> Mark | None:
        """Where to go on when nothing can be had at `mark`: in the next shard, None after the last; here again."""
        return mark

    def next_due_ms(self) -> int | None:
        """In how many ms the scheduler has something to do: 0 when it has now, None when nothing will be due."""
        given_now = "" if self._clock is None else self._clock.now_ms()
        reply = self._scripts.call("next_due", self.keys.epoch(), given_now, " ".join(LANES))
        return reply.number(0) if reply.word == "due" else None

    def counts(self, *, is_partial: bool = False) -> dict[Lane, tuple[int, int]]:
        """By lane: tasks waiting, tasks delayed. O(1).

        Args:
            is_partial: leave out shards that do not answer, as long as one does; so for `lanes` and `survey`.
        """
        with reaching("counts"), self._client.pipeline(transaction=False) as pipe:
            for lane in LANES:
                pipe.hmget(self.keys.lane(lane), ["waiting", "delayed"])
            answers = pipe.execute()
        pairs = [(int(waiting or 0), int(delayed or 0)) for waiting, delayed in answers]
        return dict(zip(LANES, pairs, strict=True))

    def lanes(self, *, is_partial: bool = False) -> list[LaneStatus]:
        """Each lane as it is now."""
        now_ms = self.now_ms()
        statuses = []
        for lane in LANES:
            waiting, delayed, busy = self._ask("HMGET", self.keys.lane(lane), "waiting", "delayed", "busy")
            statuses.append(
                LaneStatus(
                    lane=lane,
                    waiting=int(waiting or 0),
                    delayed=int(delayed or 0),
                    leased=int(self._ask("ZCARD", self.keys.leases(lane))),
                    busy_slots=busy_slots(words(busy)),
                    devices=int(self._ask("ZCARD", self.keys.oldest(lane))),
                    oldest_wait_ms=self._oldest_wait_ms(lane, now_ms),
                )
            )
        return statuses

    def survey(self, *, is_partial: bool = False) -> list[LaneSurvey]:
        """How each lane gets on."""
        given_now = "" if self._clock is None else self._clock.now_ms()
        surveys = []
        for lane in LANES:
            reply = self._scripts.call(
                "survey", self.keys.epoch(), given_now, lane, self._starved_ms, _STARVED_LOOKED_AT
            )
            worked, finished, cost, ends, starved = (float(value) for value in reply.values)
            surveys.append(LaneSurvey(lane, worked, int(finished), cost, ends, int(starved)))
        return surveys

    def audit(self) -> list[LaneBooks]:
        """Recount every lane from the data itself."""
        books = []
        for lane in LANES:
            given_now = "" if self._clock is None else self._clock.now_ms()
            reply = self._scripts.call("audit", self.keys.epoch(), given_now, lane, " ".join(LANES))
            counts = [int(value) for value in islice(reply.values, 10)]
            books.append(
                LaneBooks(
                    lane=lane,
                    accepted=counts[0],
                    waiting=counts[1],
                    delayed=counts[2],
                    leased=counts[3],
                    ended=dict(zip(_ENDS_IN_ORDER, counts[4:], strict=True)),
                    faults=tuple(value.decode() for value in reply.values[10:]),
                )
            )
        return books

    def dead_letters(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The newest dead letters."""
        return [json.loads(entry) for entry in self._ask("LRANGE", self.keys.dead_letter(), 0, limit - 1)]

    def watermark(self) -> dict[str, Any] | None:
        """The last snapshot the scheduler published, or None when it is too old."""
        return snapshot_of(self._ask("GET", self.keys.watermark()))

    def server_facts(self, *, with_config: bool = False) -> dict[str, str]:
        """What must be known of the server, by the names of INFO and CONFIG: see `SERVER_FACTS`.

        What a server does not tell (managed ones forbid CONFIG) is not among it.

        Args:
            with_config: ask for its configuration, too.
        """
        return self._facts_of({**self._ask("INFO"), **(self._written_how() if with_config else {})})

    @staticmethod
    def _facts_of(info: dict[str, Any]) -> dict[str, str]:
        return {name: str(info[name]) for name in SERVER_FACTS if name in info}

    def _written_how(self) -> dict[str, str]:
        with suppress(QueueUnavailable):
            answer = self._ask("CONFIG", "GET", "appendfsync", "*-max-listpack-value")
            pairs = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=True)
            return {words(name): words(value) for name, value in pairs}
        return {}

    def _oldest_wait_ms(self, lane: Lane, now_ms: int) -> int:
        # The index may name an older time than the line's head now has, never a younger one: so the scan may stop at
        # the first entry that is younger than the oldest head found.
        oldest: float | None = None
        entries = self._ask("ZRANGE", self.keys.oldest(lane), 0, _OLDEST_LOOKED_AT - 1, "WITHSCORES")
        for mac, indexed in entries:
            if oldest is not None and float(indexed) >= oldest:
                break
            head = self._ask("ZRANGE", self.keys.line(mac.decode(), lane), 0, 0, "WITHSCORES")
            if head:
                oldest = min(float(head[0][1]), oldest if oldest is not None else float("inf"))
        return 0 if oldest is None else max(0, now_ms - int(oldest))

    def _ask(self, *command: str | int) -> Any:
        with reaching(str(command[0])):
            return self._client.execute_command(*command)  # type: ignore[no-untyped-call]


def _text_hash(raw: Any) -> dict[str, str]:
    return {words(key): words(value) for key, value in dict(raw).items()}
