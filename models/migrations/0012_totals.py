"""Sums of all ends and of how long they took, for /metrics; deliveries know whether they are counted."""

from peewee import BigIntegerField, BooleanField, CharField, CompositeKey, Model


def tables(db):
    class Base(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class EndTotal(Base):
        lane = CharField(16)
        outcome = CharField(16)
        ends = BigIntegerField()
        with_hits = BigIntegerField()
        hits = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("lane", "outcome")

    class DurationTotal(Base):
        stage = CharField(16)
        lane = CharField(16)
        le_ms = BigIntegerField()
        times = BigIntegerField()
        sum_ms = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("stage", "lane", "le_ms")

    return [EndTotal, DurationTotal]


def up(migrator, db):
    db.create_tables(tables(db))
    # What was counted before is not lost to the sums; how long it took was kept by day only.
    db.execute_sql(
        "INSERT INTO end_total (lane, outcome, ends, with_hits, hits) "
        "SELECT lane, outcome, SUM(tasks), SUM(with_hits), SUM(hits) FROM daily_count GROUP BY lane, outcome"
    )
    migrator.migrate(
        migrator.add_column("webhook_delivery", "is_counted", BooleanField(default=False)),
        migrator.add_index("webhook_delivery", ("is_counted", "ended_ms")),
    )


def down(migrator, db):
    migrator.migrate(
        migrator.drop_index("webhook_delivery", "webhook_delivery_is_counted_ended_ms"),
        migrator.drop_column("webhook_delivery", "is_counted"),
    )
    db.drop_tables(tables(db))
