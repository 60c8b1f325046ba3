"""What an operator sets for a device: its rate and its paused lanes too; and indexes for finding devices by MAC."""

from peewee import BooleanField, CharField, DoubleField

TABLE = "device"
COLUMNS = {
    "rate_per_minute": DoubleField(null=True),
    "paused_lanes": CharField(64, default=""),
    "is_ruled": BooleanField(default=False),
}
INDEXES = {
    "device_mac": "(mac, site)",
    "device_ruled_mac": "(mac, site) WHERE is_ruled",
    "device_ruled_site": "(site, mac) WHERE is_ruled",
}


def up(migrator, db):
    migrator.migrate(*(migrator.add_column(TABLE, name, field) for name, field in COLUMNS.items()))
    for name, columns in INDEXES.items():
        db.execute_sql(f"CREATE INDEX {name} ON device {columns}")


def down(migrator, db):
    for name in INDEXES:
        db.execute_sql(f"DROP INDEX {name}")
    migrator.migrate(*(migrator.drop_column(TABLE, name) for name in reversed(COLUMNS)))
