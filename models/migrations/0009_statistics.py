"""Counts per day, device, lane and outcome, and of waits; tasks know whether they are counted."""

from peewee import BigIntegerField, BooleanField, CharField, CompositeKey, IntegerField, Model


def tables(db):
    class Base(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class DailyCount(Base):
        day = IntegerField()
        site = CharField(64)
        mac = CharField(12)
        lane = CharField(16)
        outcome = CharField(16)
        tasks = BigIntegerField()
        with_hits = BigIntegerField()
        hits = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("day", "site", "mac", "lane", "outcome")

    class DailyWait(Base):
        day = IntegerField()
        site = CharField(64)
        lane = CharField(16)
        bucket = IntegerField()
        tasks = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("day", "site", "lane", "bucket")

    return [DailyCount, DailyWait]


def up(migrator, db):
    db.create_tables(tables(db))
    migrator.migrate(
        migrator.add_column("task", "is_counted", BooleanField(default=False)),
        migrator.add_index("task", ("is_counted", "ended_ms")),
        migrator.add_index("detector_report", ("created_ms",)),
    )


def down(migrator, db):
    migrator.migrate(
        migrator.drop_index("detector_report", "detector_report_created_ms"),
        migrator.drop_index("task", "task_is_counted_ended_ms"),
        migrator.drop_column("task", "is_counted"),
    )
    db.drop_tables(tables(db))
