"""The ledger: accepted is committed, and what is written is what is shown."""

from collections.abc import Callable

import pytest

from models.devices import Device
from models.ledger import Ledger
from tests.support.clock import FakeClock
from tests.support.records import everything, finished, new_task, step


@pytest.mark.feature("R2")
def test_accept_writes_the_task_its_first_step_and_its_device(ledger: Ledger) -> None:
    accepted = ledger.accept(new_task(detection_id="d-1"))

    assert accepted.is_new
    assert accepted.task == ledger.get("t1")
    assert (accepted.task.state, accepted.task.token, accepted.task.attempts) == ("queued", 0, 0)
    assert accepted.task.payload == new_task().payload
    assert accepted.task.detection_id == "d-1"
    view = ledger.view("t1")
    assert view
    assert [(step.name, step.state) for step in view.steps] == [("enqueued", "done")]
    device = Device.get()
    assert (device.site_name, device.mac, device.first_seen_ms) == ("local", "aabbccddeeff", 1_760_000_000_000)


@pytest.mark.feature("Q13")
def test_accept_of_a_known_id_writes_nothing_and_returns_what_is_known(ledger: Ledger) -> None:
    first = ledger.accept(new_task())
    before = everything()

    again = ledger.accept(new_task(content_hash="f" * 64, mac="112233445566", created_ms=1_770_000_000_000))

    assert not again.is_new
    assert again.task == first.task
    assert everything() == before


def test_a_device_is_last_seen_when_its_newest_task_came(ledger: Ledger) -> None:
    for task_id, created_ms in (("a", 5_000), ("b", 9_000), ("c", 7_000)):
        ledger.accept(new_task(task_id, created_ms=created_ms))

    device = Device.get()
    assert (device.first_seen_ms, device.last_seen_ms) == (5_000, 9_000)


def test_withdraw_takes_back_a_task_that_no_lease_has_touched(ledger: Ledger) -> None:
    ledger.accept(new_task())

    assert ledger.withdraw("t1")

    assert ledger.view("t1") is None
    assert everything()["TaskStep"] == []
    assert not ledger.withdraw("t1")


@pytest.mark.parametrize(
    "touch",
    [
        lambda ledger: ledger.start("t1", 1, 1),
        lambda ledger: ledger.put_back("t1", 1, "queued", "host_overloaded", "", None),
        lambda ledger: ledger.close("t1", "expired", "expired", ""),
    ],
    ids=["started", "handed back", "closed"],
)
def test_withdraw_leaves_a_task_that_has_begun_its_life(ledger: Ledger, touch: Callable[[Ledger], object]) -> None:
    ledger.accept(new_task())
    touch(ledger)
    before = everything()

    assert not ledger.withdraw("t1")

    assert everything() == before


@pytest.mark.feature("R2")
def test_finish_writes_result_detection_steps_and_state_together(ledger: Ledger, clock: FakeClock) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    clock.advance(1_234)

    ledger.finish("t1", 7, finished())

    view = ledger.view("t1")
    assert view
    assert (view.task.state, view.task.ended_ms, view.task.run_ms) == ("done", clock.now_ms(), 1234)
    assert view.ocr == finished().ocr
    assert view.detection == finished().detection
    assert [step.name for step in view.steps] == ["enqueued", "fetch", "ocr", "screen", "store", "notify"]


def test_finish_of_a_text_has_no_reading(ledger: Ledger) -> None:
    ledger.accept(new_task(lane="text"))
    ledger.start("t1", 7, 1)

    ledger.finish("t1", 7, finished(ocr=None))

    view = ledger.view("t1")
    assert view
    assert view.ocr is None
    assert view.detection == finished().detection


@pytest.mark.feature("R2")
def test_finish_writes_all_or_nothing(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    before = everything()

    with pytest.raises(Exception, match=r"(?i)check"):
        ledger.finish("t1", 7, finished(steps=[step("store", "no such state")]))

    assert everything() == before


def test_steps_may_be_noted_while_running_and_after_the_good_end(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)
    ledger.note_steps("t1", 7, [step("ocr", "running"), step("ocr", "failed", "slow"), step("fetch")])
    ledger.finish("t1", 7, finished())
    row = ledger.get("t1")
    ledger.note_steps("t1", 7, [step("cleanup")])

    view = ledger.view("t1")
    assert view
    assert view.task == row
    assert [(step.name, step.state) for step in view.steps] == [
        *(("enqueued", "done"), ("fetch", "done"), ("ocr", "done"), ("screen", "done")),
        *(("store", "done"), ("notify", "skipped"), ("cleanup", "done")),
    ]


def test_put_back_says_why_and_until_when(ledger: Ledger) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 4)

    ledger.put_back("t1", 7, "delayed", "storage_unavailable", "no answer", 99_000, [step("fetch", "failed")])

    view = ledger.view("t1")
    assert view
    row = view.task
    assert (row.state, row.code, row.reason, row.due_ms) == ("delayed", "storage_unavailable", "no answer", 99_000)
    assert (row.attempts, row.ended_ms) == (4, None)
    assert view.steps[1].state == "failed"


def test_end_says_how_and_why(ledger: Ledger, clock: FakeClock) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 7, 1)

    ledger.end("t1", 7, "failed", "bad_image", "not an image", [step("ocr", "failed", "not an image")])

    row = ledger.get("t1")
    assert row
    assert (row.state, row.code, row.reason, row.ended_ms) == ("failed", "bad_image", "not an image", clock.now_ms())


def test_close_of_an_unknown_task_does_nothing(ledger: Ledger) -> None:
    assert not ledger.close("t1", "expired", "expired", "")


def test_open_tasks_come_in_pages_without_those_that_ended(ledger: Ledger) -> None:
    for number in range(7):
        ledger.accept(new_task(f"t{number}"))
    ledger.start("t1", 7, 1)
    ledger.finish("t1", 7, finished())
    ledger.start("t2", 8, 1)

    first = ledger.open_tasks(None, 4)
    second = ledger.open_tasks(first[-1].task_id, 4)

    assert [row.task_id for row in first] == ["t0", "t2", "t3", "t4"]
    assert [row.task_id for row in second] == ["t5", "t6"]


def test_counts_tell_lanes_and_states_apart(ledger: Ledger) -> None:
    assert ledger.counts() == {}
    for number in range(3):
        ledger.accept(new_task(f"o{number}"))
    ledger.accept(new_task("x", lane="text"))
    ledger.start("o1", 7, 1)

    assert ledger.counts() == {"ocr": {"queued": 2, "running": 1}, "text": {"queued": 1}}


@pytest.mark.feature("O4")
def test_characters_that_no_database_holds_are_replaced_one_for_one(ledger: Ledger) -> None:
    ledger.accept(new_task(payload={"text": "a\x00b", "words": ["\ud800"]}))
    ledger.start("t1", 7, 1)

    ledger.finish("t1", 7, finished("a\x00b\udfff", steps=[step("ocr", "failed", "\x00")]))

    view = ledger.view("t1")
    assert view
    assert view.ocr
    assert view.detection
    assert view.task.payload == {"text": "a\ufffdb", "words": ["\ufffd"]}
    assert view.ocr.text == view.ocr.lines[0]["text"] == "a\ufffdb\ufffd"
    assert view.detection.text == view.detection.hits[0]["surface"] == "a\ufffdb\ufffd"


def test_an_id_that_no_database_holds_is_just_unknown(ledger: Ledger) -> None:
    assert ledger.get("a\x00b") is None
    assert ledger.view("\ud800") is None
