"""A task is accepted whole or leaves no trace."""

import socket
import uuid

import pytest

from models.ledger import Ledger
from pipeline.clock import SystemClock
from pipeline.errors import (
    BadImage,
    DatabaseUnavailable,
    DeviceBacklogFull,
    ImageTooLarge,
    InvalidInput,
    InvalidMac,
    QueueFull,
    QueueUnavailable,
    StorageUnavailable,
    UnsupportedType,
)
from pipeline.intake import make_task_id
from pipeline.queue import TaskState, open_queue
from pipeline.submission import ImageSubmission, TextSubmission
from tests.support.clock import FakeClock
from tests.support.pictures import corner_marked, encoded, png_of_size
from tests.support.service import MAC, BrokenLedger, BrokenStore, DeafQueue, SilentQueue

PNG = encoded(corner_marked())
IMAGE = ImageSubmission(mac="AA:BB:CC:DD:EE:FF", image=PNG, words=("red",), task_id="t1", detection_id="d1")
TEXT = TextSubmission(mac="AA:BB:CC:DD:EE:FF", text="hello", words=("red",), task_id="t1")


def submit(intake, submission):
    if isinstance(submission, ImageSubmission):
        return intake.submit_image(submission)
    return intake.submit_text(submission)


@pytest.mark.feature("R1")
def test_an_image_is_stored_recorded_and_in_line(service):
    receipt = service.intake().submit_image(IMAGE)
    assert (receipt.task_id, receipt.mac, receipt.lane, receipt.state) == ("t1", MAC, "ocr", "queued")
    assert (receipt.is_duplicate, receipt.position) == (False, 1)
    row = service.ledger.get("t1")
    assert service.store.get(row.payload["object"]) == PNG
    assert (row.payload["media_type"], row.payload["words"]) == ("image/png", ["red"])
    assert (row.mac, row.lane, row.site, row.detection_id, row.size_bytes) == (MAC, "ocr", "local", "d1", len(PNG))
    assert service.queue.claim("ocr")[0].task_id == "t1"


@pytest.mark.feature("Q3")
def test_acceptances_are_ordered_by_the_clock_of_the_queue_whatever_their_host_says(service):
    told_ms = service.clock.now_ms()
    service.intake(ledger=Ledger(service.database, FakeClock())).submit_text(TEXT)
    assert service.ledger.get("t1").created_ms == told_ms
    assert service.inspector.find("t1").enqueued_ms == told_ms


def test_a_text_needs_no_object_store(service):
    receipt = service.intake(store=BrokenStore()).submit_text(TEXT)
    assert (receipt.lane, receipt.state) == ("text", "queued")
    assert service.ledger.get("t1").payload == {"text": "hello", "words": ["red"]}


def test_a_task_without_an_id_gets_one_that_sorts_by_time(service):
    first = service.intake().submit_text(TextSubmission(mac=MAC, text="a")).task_id
    service.clock.advance(1)
    second = service.intake().submit_text(TextSubmission(mac=MAC, text="a")).task_id
    assert uuid.UUID(first).version == 7
    assert uuid.UUID(first).variant == uuid.RFC_4122
    assert first < second


def test_made_ids_are_unique():
    assert len({make_task_id(1_700_000_000_000) for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("image", "error"),
    [
        (b"", BadImage),
        (b"<svg onload='alert(1)'/>", UnsupportedType),
        (b"\x89PNG\r\n\x1a\n" + b"junk", BadImage),
        (png_of_size(30_000, 30_000), ImageTooLarge),
        (png_of_size(0, 0), BadImage),
    ],
)
def test_a_bad_image_leaves_no_trace(service, image, error):
    before = service.traces()
    with pytest.raises(error):
        service.intake().submit_image(ImageSubmission(mac=MAC, image=image))
    assert service.traces() == before


def test_invalid_fields_leave_no_trace(service):
    before = service.traces()
    with pytest.raises(InvalidMac):
        service.intake().submit_text(TextSubmission(mac="nonsense", text="x"))
    with pytest.raises(InvalidInput):
        service.intake().submit_image(ImageSubmission(mac=MAC, image=PNG, task_id="a/../b"))
    assert service.traces() == before


@pytest.mark.feature("Q11")
def test_a_full_service_refuses_before_anything_is_stored(service_of):
    service = service_of(max_total_pending=1, max_per_mac_pending=1)
    service.intake().submit_text(TextSubmission(mac="0" * 12, text="x"))
    before = service.traces()
    with pytest.raises(QueueFull):
        service.intake(store=BrokenStore(), ledger=BrokenLedger(service.database, service.clock)).submit_image(IMAGE)
    assert service.traces() == before


@pytest.mark.feature("Q11")
def test_a_full_device_is_refused_alone(service_of):
    service = service_of(max_total_pending=10, max_per_mac_pending=1)
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    with pytest.raises(DeviceBacklogFull):
        service.intake().submit_text(TextSubmission(mac=MAC, text="y"))
    assert service.intake().submit_text(TextSubmission(mac="0" * 12, text="z")).state is TaskState.QUEUED


@pytest.mark.feature("Q12")
def test_a_task_that_made_room_is_closed_as_evicted(service_of):
    service = service_of(max_per_mac_pending=1, overload_policy="drop_oldest")
    old = service.intake().submit_text(TextSubmission(mac=MAC, text="old"))
    new = service.intake().submit_text(TextSubmission(mac=MAC, text="new"))
    assert service.ledger.get(old.task_id).state == "evicted"
    assert service.ledger.get(new.task_id).state == "queued"


def test_a_silent_queue_after_the_row_takes_everything_back(service):
    before = service.traces()
    with pytest.raises(QueueUnavailable):
        service.intake(queue=service.queue_like(SilentQueue)).submit_image(IMAGE)
    assert service.traces() == before


def test_a_task_already_started_stays_accepted_though_the_answer_was_lost(service):
    class StartedMeanwhile(DeafQueue):
        def enqueue(self, *args, **options):
            try:
                super().enqueue(*args, **options)
            finally:
                (claim,) = service.queue.claim("text")
                service.ledger.start("t1", claim.token, 1)

    queue = StartedMeanwhile(service.client, service.queue.rules, service.clock)
    receipt = service.intake(queue=queue).submit_text(TEXT)
    assert receipt.task_id == "t1"
    assert service.ledger.get("t1").state == "running"


@pytest.mark.parametrize("is_hung", [False, True])
def test_a_queue_that_is_down_is_known_within_two_seconds_and_nothing_is_stored(service, is_hung):
    before = service.traces()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if is_hung:  # connections are accepted, nobody answers
            listener.listen()
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}"
        queue = open_queue(service.settings.model_copy(update={"redis_url": url}))
        clock = SystemClock()
        started_ms = clock.monotonic_ms()
        with pytest.raises(QueueUnavailable):
            service.intake(queue=queue).submit_image(IMAGE)
        assert clock.monotonic_ms() - started_ms < 2_000
    assert service.traces() == before


def test_a_broken_object_store_leaves_no_trace(service):
    before = service.traces()
    with pytest.raises(StorageUnavailable):
        service.intake(store=BrokenStore()).submit_image(IMAGE)
    assert service.traces() == before


def test_a_database_that_fails_after_the_object_was_stored_leaves_no_trace(service):
    before = service.traces()
    with pytest.raises(DatabaseUnavailable):
        service.intake(ledger=BrokenLedger(service.database, service.clock)).submit_image(IMAGE)
    assert service.traces() == before
