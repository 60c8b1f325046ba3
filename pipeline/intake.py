"""Accept one task, or leave no trace of it.

The order is: validate, ask the queue whether there is room, look at the image's header, store the object, write the
row, put in line. The row is the acceptance; whatever fails after it and before the line takes it back.
"""

import logging
import secrets
import uuid
from dataclasses import dataclass, replace
from typing import Any

from models.ledger import Accepted, Ledger, NewTask, TaskRow
from models.sites import line_of
from pipeline import tracing
from pipeline.errors import (
    DatabaseUnavailable,
    FairlaneError,
    QueueUnavailable,
    Retryable,
    StorageUnavailable,
    TaskConflict,
)
from pipeline.ocr.images import image_limits, inspect_image
from pipeline.queue import Enqueued, FairQueue, Inspector, Lane, TaskState
from pipeline.recovery import as_queued, close_evicted
from pipeline.settings import Settings
from pipeline.storage import ObjectStore, image_key
from pipeline.submission import (
    ImageSubmission,
    Rules,
    Submission,
    TextSubmission,
    checked_mac,
    content_hash,
    content_of,
    image_sha256,
    lane_of,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a submit; whoever holds it will find the task until its end and after.

    Args:
        state: of the task now.
        is_duplicate: the same content had been accepted under this id before; nothing was stored or enqueued.
        position: in its device's line, from 1; None when it is not waiting or the queue cannot say.
    """

    task_id: str
    mac: str
    lane: Lane
    state: TaskState
    is_duplicate: bool = False
    position: int | None = None


def make_task_id(now_ms: int) -> str:
    """A UUID of version 7: unique, and ids made later sort later (to the millisecond). Source: RFC 9562, 5.7."""
    value = (now_ms & (1 << 48) - 1) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


class Intake:
    """The one way in.

    Call it outside `models.base.connection()`: each question to the ledger then has a connection of its own, so none is
    held while an object is stored, and one that broke does not break the question whether the row was written.
    """

    def __init__(
        self,
        queue: FairQueue,
        inspector: Inspector,
        ledger: Ledger,
        store: ObjectStore,
        settings: Settings,
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._ledger = ledger
        self._store = store
        self._rules = rules_of(settings)
        self._image_limits = image_limits(settings)

    def submit_image(self, submission: ImageSubmission) -> Receipt:
        """Accept an image for reading and screening; a refused one leaves no row, object or key.

        Raises: InvalidInput, BadImage and below it, TaskConflict; QueueFull, DeviceBacklogFull; QueueUnavailable,
            DatabaseUnavailable, StorageUnavailable.
        """
        return self._submit(submission)

    def submit_text(self, submission: TextSubmission) -> Receipt:
        """Accept a text for screening; raises as `submit_image`, but needs no object store."""
        return self._submit(submission)

    def _submit(self, submission: Submission) -> Receipt:
        mac = checked_mac(submission, self._rules)
        digest = content_hash(submission, mac)
        if submission.task_id is not None:
            known = self._ledger.get(submission.task_id)
            receipt = self._duplicate_receipt(known, digest) if known else None
            if receipt:
                return receipt
        # The queue's clock, which is one for all hosts: first come, first served within a device.
        created_ms = self._queue.admit(line_of(submission.site, mac), lane_of(submission))
        return self._store_and_enqueue(submission, mac, digest, created_ms)

    def _store_and_enqueue(self, submission: Submission, mac: str, digest: str, created_ms: int) -> Receipt:
        new = NewTask(
            task_id=submission.task_id or make_task_id(created_ms),
            lane=lane_of(submission),
            mac=mac,
            site=submission.site,
            content_hash=digest,
            payload={},
            size_bytes=len(content_of(submission)),
            detection_id=submission.detection_id,
            created_ms=created_ms,
            callback_url=submission.callback_url,
            image_sha256=image_sha256(submission),
            traceparent=tracing.traceparent(),
        )
        stored = replace(new, payload=self._stored_payload(new, submission))
        accepted = self._accept(stored)
        if accepted.is_new:
            return self._enqueue_or_withdraw(stored, accepted.task)
        self._delete_object(stored.payload)  # somebody submitted the same id between our look and our row
        receipt = self._duplicate_receipt(accepted.task, digest)
        if receipt:
            return receipt
        raise QueueUnavailable(f"task {new.task_id} is being submitted and withdrawn at the same time")

    def _accept(self, new: NewTask) -> Accepted:
        """Write the row; when the database fails, find out whether it did so before or after writing it."""
        try:
            return self._ledger.accept(new)
        except DatabaseUnavailable:
            row = self._get_or_keep_object(new)
            if row and row.payload == new.payload:
                return Accepted(row, is_new=True)
            self._delete_object(new.payload)
            raise

    def _get_or_keep_object(self, new: NewTask) -> TaskRow | None:
        try:
            return self._ledger.get(new.task_id)
        except DatabaseUnavailable:
            # Perhaps there is a row; an object without one is swept some day, a row without its object is a lost task.
            _log.warning("object of a task kept, its row unknown", extra={"task_id": new.task_id, "mac": new.mac})
            raise

    def _stored_payload(self, new: NewTask, submission: Submission) -> dict[str, Any]:
        """What the worker will need; an image is in the object store before this returns."""
        words = list(submission.words)
        if isinstance(submission, TextSubmission):
            return {"text": submission.text, "words": words}
        info = inspect_image(submission.image, self._image_limits)
        # A key of its own for each try: of two racing submits of one id, the loser must not touch the winner's object.
        key = image_key(f"{new.task_id}-{secrets.token_hex(4)}", new.created_ms)
        self._store.put(key, submission.image)
        return {"object": key, "media_type": info.media_type, "words": words}

    def _enqueue_or_withdraw(self, new: NewTask, row: TaskRow) -> Receipt:
        try:
            enqueued = self._queue.enqueue(as_queued(row))
        except FairlaneError:
            if self._withdraw(new):
                raise
            state = row_state(row)
            return self._receipt(row, state, self._position(row.task_id, state))
        if enqueued.is_duplicate and enqueued.state.is_end and self._withdraw(new):
            raise TaskConflict("/task_id belonged to a task that has ended")
        self._close_evicted(enqueued)
        return self._receipt(row, enqueued.state, enqueued.position)

    def _withdraw(self, new: NewTask) -> bool:
        """Take the acceptance back; False when the task is under way after all, so that it stays accepted.

        It is when a worker has started it; and when it is in line, because the queue's answer to us got lost or because
        a duplicate of this submit put it there, whose client has been told that the task is accepted.
        """
        try:
            if not self._ledger.withdraw(new.task_id):
                return False
            if self._is_in_line(new.task_id):
                if not self._ledger.accept(new).is_new:
                    self._delete_object(new.payload)
                return False
        except DatabaseUnavailable:
            # The row may be there still, and then needs its object: the reconciler puts the task in line.
            _log.warning("refused task perhaps accepted", extra={"task_id": new.task_id, "mac": new.mac})
            return True
        self._delete_object(new.payload)
        return True

    def _is_in_line(self, task_id: str) -> bool:
        try:
            queued = self._inspector.find(task_id)
        except Retryable:
            return False
        return queued is not None and not queued.state.is_end

    def _duplicate_receipt(self, row: TaskRow, digest: str) -> Receipt | None:
        """The answer to a submit whose task the ledger knows; None when the row has been withdrawn meanwhile."""
        if row.content_hash != digest:
            raise TaskConflict("/task_id belongs to a task with other content")
        state = row_state(row)
        if state is TaskState.QUEUED and row.token == 0:
            # The submitter before us may have died between row and line; for a task in line this changes nothing.
            enqueued = self._queue.enqueue(as_queued(row))
            self._close_evicted(enqueued)
            state, position = enqueued.state, enqueued.position
            # It may also be alive and about to take the row back: then either it sees ours in line, or we see this.
            if self._ledger.get(row.task_id) is None:
                return None
        else:
            position = self._position(row.task_id, state)
        return self._receipt(row, state, position, is_duplicate=True)

    def _receipt(self, row: TaskRow, state: TaskState, position: int | None, *, is_duplicate: bool = False) -> Receipt:
        tracing.note("fairlane.task_id", row.task_id)
        tracing.note("fairlane.mac", row.mac)
        tracing.note("fairlane.lane", row.lane)
        return Receipt(
            task_id=row.task_id,
            mac=row.mac,
            lane=_lane(row),
            state=state,
            is_duplicate=is_duplicate,
            position=position,
        )

    def _position(self, task_id: str, state: TaskState) -> int | None:
        """Asked of the queue, for a task that it was not handed just now, and only where it may wait."""
        if state is not TaskState.QUEUED:
            return None
        try:
            queued = self._inspector.find(task_id)
        except Retryable:  # the task is accepted and in line: no reason to say otherwise
            return None
        return queued.position if queued else None

    def _close_evicted(self, enqueued: Enqueued) -> None:
        if enqueued.evicted is None:
            return
        reason = "made room for a newer task of its device"
        try:
            close_evicted(self._queue, self._ledger, enqueued.evicted, reason)
        except Retryable:  # the newcomer is accepted all the same; the reconciler closes the row
            _log.warning("evicted task not closed", extra={"task_id": enqueued.evicted})

    def _delete_object(self, payload: dict[str, Any]) -> None:
        key = payload.get("object")
        if key is None:
            return
        try:
            self._store.delete(key)
        except StorageUnavailable:  # the refusal is what the client must hear; the orphan sweep deletes the object
            _log.warning("object of a refused task left behind", extra={"object": key})


def rules_of(settings: Settings) -> Rules:
    return Rules(
        text_max_chars=settings.text_max_chars,
        words_max=settings.words_per_request_max,
        receivers=settings.receiver_rules if settings.webhook_keys else None,
    )


def row_state(row: TaskRow) -> TaskState:
    return TaskState(row.state)


def _lane(row: TaskRow) -> Lane:
    return "ocr" if row.lane == "ocr" else "text"
