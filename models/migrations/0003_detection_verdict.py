"""What a detection says besides its hits: contacts, the verdict, the masked text; older ones say nothing of that."""

from peewee import BigIntegerField, CharField, DoubleField, IntegerField, JSONField, TextField

TABLE = "detection"
COLUMNS = {
    "contacts": JSONField(null=True),
    "label": CharField(64, default=""),
    "level": IntegerField(default=0),
    "score": DoubleField(default=0.0),
    "masked": TextField(null=True),
    "elapsed_ms": BigIntegerField(default=0),
}


def up(migrator, db):
    migrator.migrate(*(migrator.add_column(TABLE, name, field) for name, field in COLUMNS.items()))


def down(migrator, db):
    migrator.migrate(*(migrator.drop_column(TABLE, name) for name in reversed(COLUMNS)))
