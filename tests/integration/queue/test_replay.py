"""replay: a dead letter comes back as a new task of its device."""

import pytest
import redis

from pipeline.errors import DeviceBacklogFull, TaskConflict
from pipeline.queue import Rules, Task, TaskState
from tests.support.clock import FakeClock
from tests.support.line import RED, Line


def bury(line: Line, task_id: str) -> None:
    claim = line.claim()
    assert claim.task_id == task_id
    line.queue.start(task_id, claim.token)
    line.queue.bury(task_id, claim.token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=5)


@pytest.mark.feature("Q16")
def test_a_dead_task_is_replayed_with_its_counts_begun_anew(line: Line) -> None:
    (task_id,) = line.submit(RED, payload=b"{}")
    bury(line, task_id)
    old = line.inspector.find(task_id)

    line.queue.replay(Task(task_id, "ocr", RED, line.clock.now_ms()))

    found = line.inspector.find(task_id)
    assert old is not None
    assert found is not None
    assert (found.state, found.attempts, found.losses) == (TaskState.QUEUED, 0, 0)
    assert line.claim().token > old.token + 1, "the ledger fences the old lease off with its token plus one"
    line.assert_books_balance()


@pytest.mark.feature("Q16")
def test_a_replay_stands_behind_what_its_device_has_submitted_since(line: Line) -> None:
    (dead,) = line.submit(RED)
    bury(line, dead)
    line.clock.advance(10)
    younger = line.submit(RED, 2)
    line.clock.advance(10)

    line.queue.replay(Task(dead, "ocr", RED, 0))

    assert line.drain(3) == [*younger, dead]


def test_a_replay_keeps_to_the_limits_of_its_device(valkey: redis.Redis, clock: FakeClock) -> None:
    line = Line(valkey, clock, Rules(max_per_mac=1))
    (dead,) = line.submit(RED)
    bury(line, dead)
    line.submit(RED)

    with pytest.raises(DeviceBacklogFull):
        line.queue.replay(Task(dead, "ocr", RED, 0))


@pytest.mark.parametrize("state", ["queued", "leased", "done", "cancelled"])
def test_only_what_failed_or_is_dead_is_replayed(line: Line, state: str) -> None:
    (task_id,) = line.submit(RED)
    if state in {"leased", "done"}:
        claim = line.claim()
        if state == "done":
            line.queue.complete(task_id, claim.token, cost_ms=1)
    if state == "cancelled":
        line.queue.cancel(task_id)
    before = line.snapshot()

    with pytest.raises(TaskConflict, match=state):
        line.queue.replay(Task(task_id, "ocr", RED, 0))

    assert line.snapshot() == before


def test_a_task_the_queue_has_forgotten_is_replayed_on_the_ledgers_word(line: Line) -> None:
    line.queue.replay(Task("long-gone", "ocr", RED, 0))

    assert line.claim().task_id == "long-gone"
