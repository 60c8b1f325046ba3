"""A reading can be found again by what was read and how; how the engine saw the image gets columns of its own."""

from peewee import CharField, DoubleField, IntegerField, SqliteDatabase

TABLE = "ocr_result"
COLUMNS = {
    "scale": DoubleField(default=1.0),
    "tiles": IntegerField(default=1),
    "direction": CharField(8, default="right"),
    "reuse_key": CharField(64, null=True),
    "reused_from": CharField(64, null=True),
}

UNPACK_SQLITE = """
UPDATE ocr_result SET
    scale = json_extract(duration_ms, '$.view.scale'),
    tiles = json_extract(duration_ms, '$.view.tiles'),
    direction = json_extract(duration_ms, '$.view.direction'),
    duration_ms = json_remove(duration_ms, '$.view')
WHERE json_extract(duration_ms, '$.view') IS NOT NULL
"""
UNPACK_POSTGRESQL = """
UPDATE ocr_result SET
    scale = (duration_ms->'view'->>'scale')::double precision,
    tiles = (duration_ms->'view'->>'tiles')::integer,
    direction = duration_ms->'view'->>'direction',
    duration_ms = duration_ms - 'view'
WHERE duration_ms->'view' IS NOT NULL
"""


def up(migrator, db):
    migrator.migrate(
        *(migrator.add_column(TABLE, name, field) for name, field in COLUMNS.items()),
        migrator.add_index(TABLE, ("reuse_key", "created_ms")),
    )
    db.execute_sql(UNPACK_SQLITE if isinstance(db, SqliteDatabase) else UNPACK_POSTGRESQL)


def down(migrator, db):
    migrator.migrate(
        migrator.drop_index(TABLE, "ocr_result_reuse_key_created_ms"),
        *(migrator.drop_column(TABLE, name) for name in reversed(COLUMNS)),
    )
