"""What lists of tasks are read from: whether a task has hits, and an index for each filter, in the order of the pages."""

from peewee import BooleanField

TABLE = "task"
FILTERS = ("site", "state", "lane", "mac", "has_hit")
INDEXES = {"task_created_ms": "created_ms, task_id"} | {
    f"task_{name}_created_ms": f"{name}, created_ms, task_id" for name in FILTERS
}
OLD_INDEX = "task_mac_created_ms"


def up(migrator, db):
    migrator.migrate(migrator.add_column(TABLE, "has_hit", BooleanField(default=False)))
    db.execute_sql(
        "UPDATE task SET has_hit = TRUE WHERE task_id IN (SELECT task_id FROM detection WHERE hit_count > 0)"
    )
    db.execute_sql(f"DROP INDEX {OLD_INDEX}")
    for name, columns in INDEXES.items():
        db.execute_sql(f"CREATE INDEX {name} ON task ({columns})")


def down(migrator, db):
    for name in INDEXES:
        db.execute_sql(f"DROP INDEX {name}")
    migrator.migrate(migrator.drop_column(TABLE, "has_hit"))
    db.execute_sql(f"CREATE INDEX {OLD_INDEX} ON task (mac, created_ms)")
