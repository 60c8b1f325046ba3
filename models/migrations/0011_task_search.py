"""Tasks are found by the SHA-256 of their image and the client's own id of a finding, in the order of the pages; and of a
site by their device, state or hits.
"""

from peewee import FixedCharField

TABLE = "task"
INDEXES = {
    **{f"task_site_{name}_created_ms": f"(site, {name}, created_ms, task_id)" for name in ("mac", "state", "has_hit")},
    "task_detection_id_created_ms": "(detection_id, created_ms, task_id) WHERE detection_id IS NOT NULL",
    "task_image_sha256_created_ms": "(image_sha256, created_ms, task_id) WHERE image_sha256 IS NOT NULL",
}
OLD_INDEX = "task_detection_id"


def up(migrator, db):
    migrator.migrate(migrator.add_column(TABLE, "image_sha256", FixedCharField(64, null=True)))
    db.execute_sql(f"DROP INDEX {OLD_INDEX}")
    for name, columns in INDEXES.items():
        db.execute_sql(f"CREATE INDEX {name} ON task {columns}")


def down(migrator, db):
    for name in INDEXES:
        db.execute_sql(f"DROP INDEX {name}")
    migrator.migrate(migrator.drop_column(TABLE, "image_sha256"))
    db.execute_sql(f"CREATE INDEX {OLD_INDEX} ON task (detection_id)")
