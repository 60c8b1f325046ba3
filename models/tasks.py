"""Tasks, the ledger itself: one row from acceptance to the end and after; and the steps each of them took."""

from peewee import (
    BigIntegerField,
    BooleanField,
    CharField,
    CompositeKey,
    FixedCharField,
    ForeignKeyField,
    IntegerField,
    JSONField,
    TextField,
)

from models.base import BaseModel

#: States of a task that will still run or is running. The queue's `leased` is `queued` here until it is started.
OPEN_STATES = ("queued", "delayed", "running")
#: How a task may end, as `pipeline.queue.TaskState` has them.
END_STATES = ("done", "failed", "dead", "expired", "evicted", "cancelled")

#: The steps in the order in which they are shown.
STEP_NAMES = ("enqueued", "fetch", "ocr", "screen", "store", "notify", "archive", "cleanup")


class Task(BaseModel):
    """An accepted task. `token` is that of the newest lease that wrote here; older leases can no longer write.

    `is_counted` says that its end is in the statistics (`models/statistics.py`); a replayed task ends and counts again.
    `image_sha256` is that of the file as it came; `traceparent` that of the request, null when no trace was written.
    """

    task_id = CharField(64, primary_key=True)
    lane = CharField(16)
    mac = CharField(12)
    site = CharField(64)
    state = CharField(16)
    token = BigIntegerField(default=0)
    attempts = IntegerField(default=0)
    content_hash = FixedCharField(64)
    payload = JSONField()
    size_bytes = BigIntegerField()
    detection_id = CharField(64, null=True)
    image_sha256 = FixedCharField(64, null=True)
    code = CharField(64, default="")
    reason = TextField(default="")
    created_ms = BigIntegerField()
    started_ms = BigIntegerField(null=True)
    ended_ms = BigIntegerField(null=True)
    due_ms = BigIntegerField(null=True)
    run_ms = BigIntegerField(null=True)
    is_counted = BooleanField(default=False)
    has_hit = BooleanField(default=False)
    callback_url = TextField(null=True)
    traceparent = CharField(64, null=True)


# The walk over open tasks must not pay for the millions that have ended.
Task.add_index(Task.task_id, where=Task.ended_ms.is_null(), name="task_open")
# What is to be counted, and what is old enough to go, oldest first.
Task.add_index(Task.is_counted, Task.ended_ms, name="task_is_counted_ended_ms")
Task.add_index(Task.lane, Task.state, name="task_lane_state")
# Each page of each filter is read off an index, newest first.
Task.add_index(Task.created_ms, Task.task_id, name="task_created_ms")
for _field in (Task.site, Task.state, Task.lane, Task.mac, Task.has_hit):
    Task.add_index(_field, Task.created_ms, Task.task_id, name=f"task_{_field.name}_created_ms")
for _field in (Task.mac, Task.state, Task.has_hit):
    Task.add_index(Task.site, _field, Task.created_ms, Task.task_id, name=f"task_site_{_field.name}_created_ms")
for _rare in (Task.detection_id, Task.image_sha256):
    is_there = _rare.is_null(is_null=False)
    Task.add_index(_rare, Task.created_ms, Task.task_id, where=is_there, name=f"task_{_rare.name}_created_ms")


class TaskStep(BaseModel):
    """One step of one task: pending, running, done, failed or skipped."""

    task = ForeignKeyField(Task, column_name="task_id", object_id_name="task_id", on_delete="CASCADE", index=False)
    name = CharField(16)
    state = CharField(16)
    started_ms = BigIntegerField(null=True)
    ended_ms = BigIntegerField(null=True)
    reason = TextField(default="")

    class Meta:
        primary_key = CompositeKey("task", "name")
