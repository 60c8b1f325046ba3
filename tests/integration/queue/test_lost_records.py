"""A task's record that somebody deleted: what is left of the task goes, the books balance, its device goes on."""

import pytest

from pipeline.queue import TaskState
from pipeline.queue.types import DeviceRules
from tests.support.line import RED, Line


def delete_record(line: Line, task_id: str) -> None:
    assert line.client.delete(line.queue.keys.task(task_id)) == 1


def assert_nothing_is_left(line: Line) -> None:
    (ocr, *_) = line.inspector.audit()
    assert (ocr.accepted, ocr.waiting, ocr.delayed, ocr.leased, ocr.faults) == (0, 0, 0, 0, ())
    assert line.client.get(line.queue.keys.global_pending()) == b"0"
    assert line.client.zcard(line.queue.keys.expiry()) == 0


@pytest.mark.parametrize("is_overdue", [False, True])
def test_a_waiting_task_without_a_record_is_forgotten_by_the_claim_that_meets_it(line: Line, is_overdue: bool) -> None:
    (task_id,) = line.submit(RED)
    delete_record(line, task_id)
    if is_overdue:
        line.clock.advance(line.rules.ttl_ms)
        assert line.queue.expire() == []

    assert line.queue.claim("ocr") == []

    assert_nothing_is_left(line)


def test_a_leased_task_without_a_record_frees_its_device_when_the_lease_runs_out(line: Line) -> None:
    line.queue.set_device(RED, DeviceRules(max_inflight=1))
    (task_id,) = line.submit(RED)
    line.claim()
    delete_record(line, task_id)
    line.clock.advance(31_000)

    assert line.queue.reap("ocr") == []

    assert_nothing_is_left(line)
    line.submit(RED)
    assert line.claim().mac == RED


def test_a_delayed_task_without_a_record_is_forgotten_when_it_is_due(line: Line) -> None:
    (task_id,) = line.submit(RED)
    line.queue.retry(task_id, line.claim().token, cost_ms=1, delay_ms=5_000)
    delete_record(line, task_id)
    line.clock.advance(5_000)

    assert line.queue.promote() == []

    assert_nothing_is_left(line)


@pytest.mark.parametrize("garbage", [b"", b"x", b"a:b", b"\xff\xfe:\x00"])
def test_what_no_fairlane_wrote_among_leases_and_delayed_stops_nobody(line: Line, garbage: bytes) -> None:
    keys = line.queue.keys
    for key in (keys.leases("ocr"), keys.delayed(), keys.expiry()):
        line.client.zadd(key, {garbage: 1})
    (task_id,) = line.submit(RED)
    line.queue.retry(task_id, line.claim().token, cost_ms=1, delay_ms=5_000)
    line.clock.advance(5_000)

    line.queue.reap("ocr")
    assert line.queue.promote() == [task_id]
    line.queue.expire()

    for key in (keys.leases("ocr"), keys.delayed()):
        assert line.client.zscore(key, garbage) is None
    assert line.drain(1) == [task_id]
    found = line.inspector.find(task_id)
    assert found is not None
    assert found.state is TaskState.DONE
