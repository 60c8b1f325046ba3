"""A walk over all tasks that have not ended, a page at a time, while the queue works on."""

from typing import Any

import redis

from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.reading import state_named, whole, words
from pipeline.queue.types import Mark, OpenTask


def open_page(client: redis.Redis, keys: Keys, mark: Mark, limit: int) -> tuple[list[OpenTask], Mark | None]:
    """The next `limit` open tasks of one queue or shard, and where to go on; None when there are no more.

    Every task is in the index of times to live from its way in to its end. One that is put in line or ends during the
    walk may be missed; the next walk finds it.
    """
    with reaching("open tasks"):
        # Typed loosely, as redis-py leaves it untyped.
        found: Any = client.zrange(
            keys.expiry(), mark.expires_ms, "+inf", byscore=True, offset=mark.seen, num=limit, withscores=True
        )
        ids = [words(member) for member, _ in found]
        with client.pipeline(transaction=False) as pipe:
            for task_id in ids:
                pipe.hmget(keys.task(task_id), ["state", "token"])
            answers = pipe.execute() if ids else []
    tasks = [
        OpenTask(task_id, known, whole(words(token)))
        for task_id, (state, token) in zip(ids, answers, strict=True)
        if (known := state_named(words(state)))
    ]
    if len(ids) < limit:
        return tasks, None
    return tasks, _after(mark, [int(score) for _, score in found])


def _after(mark: Mark, expires_ms: list[int]) -> Mark:
    last_ms = expires_ms[-1]
    alike = sum(1 for each in expires_ms if each == last_ms)
    seen = alike + (mark.seen if last_ms == mark.expires_ms else 0)
    return Mark(mark.shard, last_ms, seen)
