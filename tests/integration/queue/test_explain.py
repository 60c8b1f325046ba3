"""explain: why a task waits, and for how long."""

import pytest

from pipeline.queue import TaskState
from pipeline.queue.explaining import Explanation, Reason
from pipeline.queue.types import DeviceRules
from tests.support.line import BLUE, GREEN, RED, Line

SLOTS = {"ocr": 2}


def explain(line: Line, task_id: str, slots: dict[str, int] | None = None) -> Explanation:
    found = line.inspector.explain(task_id, slots=SLOTS if slots is None else slots)
    assert found is not None
    return found


@pytest.mark.feature("Q19")
def test_the_next_task_of_the_next_device_is_runnable(line: Line) -> None:
    (task_id,) = line.submit(RED)

    assert explain(line, task_id) == Explanation(TaskState.QUEUED, Reason.RUNNABLE, wait_ms=0)


@pytest.mark.feature("Q19")
def test_a_task_behind_its_own_device_waits_for_its_share(line: Line) -> None:
    line.submit(GREEN)
    line.drain(1, cost_ms=1_000)
    ids = line.submit(RED, 10)
    line.submit(BLUE, 10)

    found = explain(line, ids[4])

    assert (found.reason, found.ahead_in_line) == (Reason.BEHIND_OWN, 4)
    # Four tasks of a second each, at half of two slots.
    assert found.wait_ms == 4_000


@pytest.mark.feature("Q19")
def test_a_first_task_waits_for_the_turns_before_it(line: Line) -> None:
    line.submit(RED)
    line.submit(BLUE)
    (third,) = line.submit(GREEN)

    found = explain(line, third)

    assert (found.reason, found.devices_ahead) == (Reason.BEHIND_OTHERS, 2)


@pytest.mark.feature("Q19")
@pytest.mark.parametrize(
    ("rules", "reason"),
    [(DeviceRules(is_paused=True), Reason.PAUSED), (DeviceRules(max_inflight=1), Reason.CAPPED)],
)
def test_a_gate_is_named(line: Line, rules: DeviceRules, reason: Reason) -> None:
    _, second = line.submit(RED, 2)
    line.claim()
    line.queue.set_device(RED, rules)

    assert explain(line, second).reason is reason


@pytest.mark.feature("Q19")
def test_a_backoff_and_a_rate_say_when_they_open(line: Line) -> None:
    _, second = line.submit(RED, 2)
    line.queue.defer("aa-1", line.claim().token, code="no_capable_worker")
    line.queue.set_device(BLUE, DeviceRules(rate_per_minute=1))
    _, late = line.submit(BLUE, 2)
    line.claim()

    deferred, limited = explain(line, second), explain(line, late)

    assert (deferred.reason, deferred.until_ms) == (Reason.DEFERRED, line.clock.now_ms() + 30_000)
    assert (limited.reason, limited.until_ms) == (Reason.RATE_LIMITED, line.clock.now_ms() + 60_000)
    assert explain(line, "aa-1") == Explanation(
        TaskState.DELAYED, Reason.DELAYED, until_ms=line.clock.now_ms() + 30_000
    )


@pytest.mark.feature("Q19")
def test_without_a_worker_nobody_can_say_when(line: Line) -> None:
    (task_id,) = line.submit(RED)

    found = explain(line, task_id, slots={})

    assert (found.reason, found.wait_ms) == (Reason.NO_CAPABLE_WORKER, None)


def test_what_runs_or_has_ended_waits_for_nothing(line: Line) -> None:
    (task_id,) = line.submit(RED)
    claim = line.claim()
    assert explain(line, task_id).reason is Reason.IN_FLIGHT
    line.queue.complete(task_id, claim.token, cost_ms=1)

    assert explain(line, task_id).reason is Reason.ENDED
    assert line.inspector.explain("never-heard-of", slots=SLOTS) is None


def test_explain_changes_nothing(line: Line) -> None:
    (task_id,) = line.submit(RED)
    before = line.snapshot()

    explain(line, task_id)

    assert line.snapshot() == before
