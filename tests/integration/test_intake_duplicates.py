"""Submitting the same task again, at the same time, or after an answer got lost."""

import threading

import pytest

from pipeline.errors import QueueFull, QueueUnavailable, TaskConflict
from pipeline.queue import FairQueue, TaskState
from pipeline.storage import ObjectStore
from pipeline.submission import ImageSubmission, TextSubmission
from tests.support.pictures import corner_marked, encoded
from tests.support.service import MAC, BrokenStore, DeafQueue

PNG = encoded(corner_marked())
IMAGE = ImageSubmission(mac="AA:BB:CC:DD:EE:FF", image=PNG, words=("red",), task_id="t1", detection_id="d1")
TEXT = TextSubmission(mac="AA:BB:CC:DD:EE:FF", text="hello", words=("red",), task_id="t1")


def submit(intake, submission):
    if isinstance(submission, ImageSubmission):
        return intake.submit_image(submission)
    return intake.submit_text(submission)


@pytest.mark.feature("Q13")
@pytest.mark.parametrize("submission", [IMAGE, TEXT])
def test_the_same_submission_again_is_a_duplicate_and_changes_nothing(service, submission):
    submit(service.intake(), submission)
    before = service.traces()
    receipt = submit(service.intake(store=BrokenStore()), submission)
    assert (receipt.task_id, receipt.state, receipt.is_duplicate, receipt.position) == ("t1", "queued", True, 1)
    assert service.traces() == before


@pytest.mark.feature("Q13")
def test_a_duplicate_is_answered_even_when_the_service_is_full(service_of):
    service = service_of(max_total_pending=1, max_per_mac_pending=1)
    service.intake().submit_text(TEXT)
    assert service.intake().submit_text(TEXT).is_duplicate


@pytest.mark.feature("Q13")
def test_a_duplicate_of_an_ended_task_tells_its_end(service):
    service.intake().submit_text(TEXT)
    service.queue.cancel("t1")
    service.ledger.close("t1", "cancelled", "cancelled", "by hand")
    receipt = service.intake().submit_text(TEXT)
    assert (receipt.state, receipt.is_duplicate, receipt.position) == ("cancelled", True, None)


@pytest.mark.feature("Q13")
def test_a_duplicate_that_fell_out_of_line_is_put_back(service):
    service.intake().submit_text(TEXT)
    service.client.flushdb()
    receipt = service.intake().submit_text(TEXT)
    assert (receipt.state, receipt.is_duplicate, receipt.position) == ("queued", True, 1)
    assert service.queue.claim("text")[0].task_id == "t1"


@pytest.mark.feature("Q13")
@pytest.mark.parametrize(
    "other",
    [
        TextSubmission(mac=MAC, text="other", words=("red",), task_id="t1"),
        TextSubmission(mac="0" * 12, text="hello", words=("red",), task_id="t1"),
        TextSubmission(mac=MAC, text="hello", task_id="t1"),
        ImageSubmission(mac=MAC, image=PNG, task_id="t1"),
    ],
)
def test_other_content_under_the_same_id_is_a_conflict(service, other):
    service.intake().submit_text(TEXT)
    before = service.traces()
    with pytest.raises(TaskConflict):
        service.intake().submit_text(other)
    assert service.traces() == before


class MeetingStore:
    """Stores, then lets another submit overtake."""

    def __init__(self, store: ObjectStore, overtake) -> None:
        self._store = store
        self._overtake = overtake

    def put(self, key: str, data: bytes) -> None:
        self._store.put(key, data)
        thread = threading.Thread(target=self._overtake)
        thread.start()
        thread.join()

    def delete(self, key: str) -> None:
        self._store.delete(key)


def overtaken(service, submission):
    def overtake() -> None:
        service.intake().submit_image(submission)

    return service.intake(store=MeetingStore(service.store, overtake))


@pytest.mark.feature("Q13")
def test_of_two_racing_equal_submits_one_is_the_duplicate_and_one_object_stays(service):
    receipt = overtaken(service, IMAGE).submit_image(IMAGE)
    assert receipt.is_duplicate
    assert service.row_ids() == ["t1"]
    assert len(service.objects()) == 1
    assert service.store.get(service.ledger.get("t1").payload["object"]) == PNG
    assert service.queue.claim("ocr")[0].task_id == "t1"
    assert not service.queue.claim("ocr")


@pytest.mark.feature("Q13")
def test_of_two_racing_different_submits_the_loser_harms_nothing(service):
    other = encoded(corner_marked((30, 30)))
    with pytest.raises(TaskConflict):
        overtaken(service, IMAGE).submit_image(ImageSubmission(mac=MAC, image=other, task_id="t1"))
    assert len(service.objects()) == 1
    assert service.store.get(service.ledger.get("t1").payload["object"]) == PNG


@pytest.mark.feature("Q13")
def test_many_threads_with_one_id_make_one_task(service):
    receipts = []

    def submit() -> None:
        receipts.append(service.intake().submit_image(IMAGE))

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(receipt.is_duplicate for receipt in receipts) == [False] + [True] * 7
    assert service.row_ids() == ["t1"]
    assert len(service.objects()) == 1
    assert service.inspector.lanes()[0].waiting == 1


@pytest.mark.feature("Q13")
def test_a_task_in_line_is_accepted_though_the_answer_of_the_queue_got_lost(service):
    receipt = service.intake(queue=service.queue_like(DeafQueue)).submit_image(IMAGE)
    assert (receipt.task_id, receipt.state) == ("t1", "queued")
    assert service.store.get(service.ledger.get("t1").payload["object"]) == PNG
    assert service.queue.claim("ocr")[0].task_id == "t1"


def lose_the_queue(service, submission):
    with pytest.raises(QueueUnavailable):
        submit(service.intake(queue=service.queue_like(DeafQueue), inspector=service.silent_inspector()), submission)
    assert (service.row_ids(), service.objects()) == ([], [])


@pytest.mark.feature("Q13")
def test_a_submit_that_lost_the_queue_can_be_made_again_with_the_same_id(service):
    lose_the_queue(service, IMAGE)
    assert service.intake().submit_image(IMAGE).state is TaskState.QUEUED
    assert service.row_ids() == ["t1"]
    assert service.queue.claim("ocr")[0].task_id == "t1"
    assert not service.queue.claim("ocr")


def test_an_id_that_ended_unknown_to_the_ledger_is_a_conflict(service):
    lose_the_queue(service, TEXT)
    service.queue.cancel("t1")
    with pytest.raises(TaskConflict):
        service.intake().submit_text(TEXT)
    assert service.row_ids() == []


@pytest.mark.feature("Q13")
def test_a_refused_submit_leaves_alone_what_its_duplicate_put_in_line(service):
    told = []

    class Overtaken(FairQueue):
        def enqueue(self, task, **options):
            told.append(service.intake().submit_image(IMAGE))
            raise QueueFull("full", retry_after_ms=1_000)

    receipt = service.intake(queue=service.queue_like(Overtaken)).submit_image(IMAGE)
    assert (receipt.state, told[0].state, told[0].is_duplicate) == ("queued", "queued", True)
    assert service.store.get(service.ledger.get("t1").payload["object"]) == PNG
    assert service.queue.claim("ocr")[0].task_id == "t1"


@pytest.mark.feature("Q13")
def test_a_duplicate_whose_original_is_withdrawn_meanwhile_is_accepted_itself(service):
    service.intake().submit_image(IMAGE)

    class Overtaken(FairQueue):
        def enqueue(self, task, **options):
            enqueued = super().enqueue(task, **options)
            row = service.ledger.get("t1")
            if not told:
                service.ledger.withdraw("t1")
                service.store.delete(row.payload["object"])
            told.append(enqueued)
            return enqueued

    told = []
    receipt = service.intake(queue=service.queue_like(Overtaken)).submit_image(IMAGE)
    assert (receipt.state, receipt.is_duplicate) == ("queued", False)
    assert service.store.get(service.ledger.get("t1").payload["object"]) == PNG


def test_the_books_balance_afterwards(service):
    service.intake().submit_text(TEXT)
    with pytest.raises(TaskConflict):
        service.intake().submit_text(TextSubmission(mac=MAC, text="other", task_id="t1"))
    assert all(books.balances for books in service.inspector.audit())
