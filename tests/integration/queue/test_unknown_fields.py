"""Two versions on one queue: what a newer one adds to a record stays there when an older one works on it."""

import pytest

from tests.support.line import LEAVING, RED, Line, Move

NEWER = {"a_newer_field": "kept", "another": "\x00\xff"}
#: The ways of a claimed task back into line, or to its end.
WAYS: dict[str, Move] = {
    **LEAVING,
    "cancel": lambda queue, task_id, _: queue.cancel(task_id),
}


@pytest.mark.parametrize("way", WAYS)
def test_fields_of_a_newer_version_are_kept_by_all_that_happens_to_a_task(line: Line, way: str) -> None:
    (task_id,) = line.submit(RED)
    keys = line.queue.keys
    records = (keys.task(task_id), keys.meta(RED), keys.lane("ocr"))
    for record in records:
        line.client.hset(record, mapping=NEWER)

    claim = line.claim()
    line.queue.start(claim.task_id, claim.token)
    line.queue.renew(claim.task_id, claim.token)
    WAYS[way](line.queue, claim.task_id, claim.token)
    line.clock.advance(line.rules.lease_ms * 30)
    line.queue.reap("ocr")
    line.queue.promote()
    line.queue.resume()

    for record in records:
        assert line.client.hmget(record, list(NEWER)) == [value.encode() for value in NEWER.values()]
    line.assert_books_balance()


def test_a_lost_lease_keeps_them_too(line: Line) -> None:
    (task_id,) = line.submit(RED)
    line.client.hset(line.queue.keys.task(task_id), mapping=NEWER)
    line.claim()
    line.clock.advance(line.rules.lease_ms)

    line.queue.reap("ocr")

    assert line.client.hget(line.queue.keys.task(task_id), "a_newer_field") == b"kept"
    assert line.drain(1) == [task_id]
