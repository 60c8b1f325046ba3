"""The first tables. A frozen copy of the models of its day, with the CHECK constraints that SQLite cannot add later."""

from peewee import (
    BigIntegerField,
    BooleanField,
    CharField,
    Check,
    CompositeKey,
    DoubleField,
    FixedCharField,
    ForeignKeyField,
    IntegerField,
    JSONField,
    Model,
    TextField,
)

from pipeline.clock import SystemClock

MAC = "length(mac) = 12"
STATES = "state IN ('queued', 'delayed', 'running', 'done', 'failed', 'dead', 'expired', 'evicted', 'cancelled')"
ENDS_ARE_TIMED = "(ended_ms IS NULL) = (state IN ('queued', 'delayed', 'running'))"


def tables(db):
    """The models, parents before children."""

    class Base(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Site(Base):
        site = CharField(64, primary_key=True)
        created_ms = BigIntegerField()

    class ApiKey(Base):
        key_hash = FixedCharField(64, primary_key=True)
        site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE")
        name = CharField(128)
        role = CharField(16, constraints=[Check("role IN ('device', 'viewer', 'operator', 'admin')")])
        bound_macs = JSONField(null=True)
        created_ms = BigIntegerField()
        revoked_ms = BigIntegerField(null=True)

    class Device(Base):
        site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE", index=False)
        mac = CharField(12, constraints=[Check(MAC)])
        first_seen_ms = BigIntegerField()
        last_seen_ms = BigIntegerField()
        weight = DoubleField(default=1.0, constraints=[Check("weight > 0")])
        max_inflight = IntegerField(null=True, constraints=[Check("max_inflight > 0")])
        is_paused = BooleanField(default=False)

        class Meta:
            primary_key = CompositeKey("site", "mac")

    class Task(Base):
        task_id = CharField(64, primary_key=True)
        lane = CharField(16)
        mac = CharField(12, constraints=[Check(MAC)])
        site = CharField(64)
        state = CharField(16, constraints=[Check(STATES)])
        token = BigIntegerField(default=0, constraints=[Check("token >= 0")])
        attempts = IntegerField(default=0, constraints=[Check("attempts >= 0")])
        content_hash = FixedCharField(64)
        payload = JSONField()
        size_bytes = BigIntegerField(constraints=[Check("size_bytes >= 0")])
        detection_id = CharField(64, null=True, index=True)
        code = CharField(64, default="")
        reason = TextField(default="")
        created_ms = BigIntegerField()
        started_ms = BigIntegerField(null=True)
        ended_ms = BigIntegerField(null=True, constraints=[Check(ENDS_ARE_TIMED)])
        due_ms = BigIntegerField(null=True)
        run_ms = BigIntegerField(null=True)

    Task.add_index(Task.task_id, where=Task.ended_ms.is_null(), name="task_open")
    Task.add_index(Task.lane, Task.state, name="task_lane_state")
    Task.add_index(Task.mac, Task.created_ms, name="task_mac_created_ms")

    class TaskStep(Base):
        task = ForeignKeyField(Task, column_name="task_id", object_id_name="task_id", on_delete="CASCADE", index=False)
        name = CharField(16)
        state = CharField(16, constraints=[Check("state IN ('pending', 'running', 'done', 'failed', 'skipped')")])
        started_ms = BigIntegerField(null=True)
        ended_ms = BigIntegerField(null=True)
        reason = TextField(default="")

        class Meta:
            primary_key = CompositeKey("task", "name")

    class OcrResult(Base):
        task = ForeignKeyField(
            Task, column_name="task_id", object_id_name="task_id", primary_key=True, on_delete="CASCADE"
        )
        token = BigIntegerField()
        text = TextField()
        lines = JSONField()
        line_count = IntegerField(constraints=[Check("line_count >= 0")])
        mean_confidence = DoubleField(constraints=[Check("mean_confidence BETWEEN 0 AND 1")])
        width_px = IntegerField()
        height_px = IntegerField()
        engine = CharField(64)
        model_name = CharField(128, column_name="model")
        duration_ms = JSONField()
        created_ms = BigIntegerField()

    class Detection(Base):
        task = ForeignKeyField(
            Task, column_name="task_id", object_id_name="task_id", primary_key=True, on_delete="CASCADE"
        )
        token = BigIntegerField()
        text = TextField()
        suggestion = CharField(16)
        hit_count = IntegerField(constraints=[Check("hit_count >= 0")])
        hits = JSONField()
        created_ms = BigIntegerField()

    class DetectorReport(Base):
        site = CharField(64)
        mac = CharField(12, constraints=[Check(MAC)])
        detection_id = CharField(64)
        type = TextField(default="")
        label = TextField(default="")
        text = TextField(default="")
        score = DoubleField(null=True)
        words = JSONField()
        occurred_ms = BigIntegerField(null=True)
        created_ms = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("site", "mac", "detection_id")

    return [Site, ApiKey, Device, Task, TaskStep, OcrResult, Detection, DetectorReport]


def up(migrator, db):
    models = tables(db)
    db.create_tables(models, safe=False)
    site = models[0]
    site.insert(site="local", created_ms=SystemClock().now_ms()).returning(site.site).execute()


def down(migrator, db):
    db.drop_tables(tables(db), safe=False)
