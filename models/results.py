"""What was read and what was found in it; written once, in the transaction that ends the task."""

from peewee import BigIntegerField, CharField, DoubleField, ForeignKeyField, IntegerField, JSONField, TextField

from models.base import BaseModel
from models.tasks import Task


class OcrResult(BaseModel):
    """What an engine read in the image of a task; boxes in pixels of the upright original.

    `reuse_key` stands for all that the reading depends on; null where it is not to be used again, as in one that is
    itself the reading of another task (`reused_from`).
    """

    task = ForeignKeyField(Task, column_name="task_id", object_id_name="task_id", primary_key=True, on_delete="CASCADE")
    token = BigIntegerField()
    text = TextField()
    lines = JSONField()
    line_count = IntegerField()
    mean_confidence = DoubleField()
    width_px = IntegerField()
    height_px = IntegerField()
    engine = CharField(64)
    model_name = CharField(128, column_name="model")
    duration_ms = JSONField()
    scale = DoubleField(default=1.0)
    tiles = IntegerField(default=1)
    direction = CharField(8, default="right")
    reuse_key = CharField(64, null=True)
    reused_from = CharField(64, null=True)
    created_ms = BigIntegerField()

    class Meta:
        indexes = ((("reuse_key", "created_ms"), False),)


class Detection(BaseModel):
    """What the screening of a task's text found: `suggestion` block, review or pass, and what it rests on.

    `label` and `level` are those of the gravest find, `masked` is null where nothing had to be hidden,
    `contacts` where none were looked for, `versions` where no list was.
    """

    task = ForeignKeyField(Task, column_name="task_id", object_id_name="task_id", primary_key=True, on_delete="CASCADE")
    token = BigIntegerField()
    text = TextField()
    suggestion = CharField(16)
    hit_count = IntegerField()
    hits = JSONField()
    contacts = JSONField(null=True)
    label = CharField(64, default="")
    level = IntegerField(default=0)
    score = DoubleField(default=0.0)
    masked = TextField(null=True)
    elapsed_ms = BigIntegerField(default=0)
    created_ms = BigIntegerField()
    versions = JSONField(null=True)
